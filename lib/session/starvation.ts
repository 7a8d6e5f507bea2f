import type { Ns } from "../events/time.ts";
import { readStat } from "../target/process.ts";
import type { RunningProgram } from "../tracing/running_program.ts";
import type { Means } from "./means.ts";
import { sideLook } from "./side_look.ts";
import type { Tap } from "./tap.ts";

/** How often it is looked at. Its program has something to say as often (HEARTBEAT_MS in prologue.ts). */
const LOOK_MS = 100;
/** Looks in a row at which it had said nothing, or was behind: where llmprof itself stood still, the first tells nothing. */
const SILENT_LOOKS = 3, BEHIND_LOOKS = 2;
/** By how much later than when it was last resumed it may come to read what the kernel wrote: as a rule it catches up. */
const FELL_BEHIND_NS = 300e6;
/** The lowest of the kernel's real-time priorities: before whatever has none. */
const PRIORITY = 1;

/** As far as it is looked at here. */
export interface Reader {
  readonly running: Pick<RunningProgram, "pid" | "isPaused">;
  readonly tap: Pick<Tap, "closed" | "delivered">;
  /** By how much longer ago what is read now was written than what was read when its reader went on. */
  readonly fellBehind: Ns;
}

type Hands = Pick<Means, "files" | "spawn" | "sleep" | "self">;

/**
 * Watches, until it ends, whether a bpftrace that should read its buffer gets no processor, and whether what comes is read more slowly than it comes: runs
 * it, and llmprof, before all that has no real-time priority then, and `tell`s that. Not before: who catches up with less takes no more of the target's
 * time than that.
 */
export async function keepRunning(reader: Reader, hands: Hands, tell: (text: string) => void): Promise<void> {
  const { running, tap } = reader, { files, sleep, self } = hands;
  let isFirst = false;
  for (let silent = 0, behind = 0, seen = NaN; !tap.closed; seen = tap.delivered) {
    await sleep(LOOK_MS);
    behind = reader.fellBehind > FELL_BEHIND_NS ? behind + 1 : 0;
    if (behind === BEHIND_LOOKS) return tell(`what comes was not read as fast as it comes${await putFirst([running.pid, self], hands)}`);
    silent = tap.delivered === seen && !running.isPaused ? silent + 1 : 0;
    // What stands still, or waits for llmprof to read, lacks no processor.
    if (isFirst || silent !== SILENT_LOOKS || (await sideLook(readStat(files, running.pid), null))?.state !== "R") continue;
    isFirst = true;
    tell(`bpftrace got no processor for ${SILENT_LOOKS * LOOK_MS / 1000} s${await putFirst([running.pid], hands)}`);
  }
}

/** Returns how that went, as the end of a sentence. */
async function putFirst(pids: readonly number[], { spawn }: Hands): Promise<string> {
  const chrt = (pid: number) => spawn({ program: "chrt", args: ["-a", "-r", "-p", `${PRIORITY}`, `${pid}`], newSession: true }).status;
  for (const pid of pids) {
    const end = await sideLook((async () => await chrt(pid))(), null);
    if (end?.code !== 0) return ", and could not be put before others (chrt): events may be lost, and sums come late";
  }
  return ": since then what reads comes before whatever has no real-time priority";
}
