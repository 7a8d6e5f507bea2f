import { readStat } from "../target/process.ts";
import type { RunningProgram } from "../tracing/running_program.ts";
import type { Means } from "./means.ts";
import { sideLook } from "./side_look.ts";
import type { Tap } from "./tap.ts";

/** How often it is looked at. Its program has something to say as often (HEARTBEAT_MS in prologue.ts). */
const LOOK_MS = 100;
/** Looks in a row at which it had said nothing: where llmprof itself stood still, the first tells nothing. */
const SILENT_LOOKS = 3;
/** The lowest of the kernel's real-time priorities: before whatever has none. */
const PRIORITY = 1;

/** As far as it is looked at here. */
export interface Reader {
  readonly running: Pick<RunningProgram, "pid" | "isPaused">;
  readonly tap: Pick<Tap, "closed" | "delivered">;
}

/**
 * Waits until a bpftrace that should read its buffer gets no processor, and has the kernel run it before all that has no real-time priority. Not before:
 * who gets any share takes no more of the target's time than that. Returns what to say of it; null when it ended first.
 */
export async function unstarve({ running, tap }: Reader, { files, spawn, sleep }: Pick<Means, "files" | "spawn" | "sleep">): Promise<string | null> {
  for (let silent = 0, seen = NaN; !tap.closed; seen = tap.delivered) {
    await sleep(LOOK_MS);
    silent = tap.delivered === seen && !running.isPaused ? silent + 1 : 0;
    // What stands still, or waits for llmprof to read, lacks no processor.
    if (silent !== SILENT_LOOKS || (await sideLook(readStat(files, running.pid), null))?.state !== "R") continue;
    const chrt = { program: "chrt", args: ["-r", "-p", `${PRIORITY}`, `${running.pid}`], newSession: true };
    const raised = await sideLook((async () => await spawn(chrt).status)(), null);
    const silence = `bpftrace got no processor for ${SILENT_LOOKS * LOOK_MS / 1000} s`;
    return raised?.code === 0
      ? `${silence}: since then it comes before whatever has no real-time priority`
      : `${silence}, and could not be put before others (chrt): events may be lost, and sums come late`;
  }
  return null;
}
