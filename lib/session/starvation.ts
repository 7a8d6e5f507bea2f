import type { Ns } from "../events/time.ts";
import { HEARTBEAT_MS } from "../programs/prologue.ts";
import { parseStat } from "../target/process.ts";
import type { RunningProgram } from "../tracing/running_program.ts";
import type { Means } from "./means.ts";
import { sideLook } from "./side_look.ts";
import type { Tap } from "./tap.ts";

/** How often it is looked at: its program has something to say as often. */
const LOOK_MS = HEARTBEAT_MS;
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
  const { running, tap } = reader, { files, spawn, sleep, self } = hands;
  let isFirst = false;
  for (let silent = 0, behind = 0, seen = NaN; !tap.closed; seen = tap.delivered) {
    await sleep(LOOK_MS);
    behind = reader.fellBehind > FELL_BEHIND_NS ? behind + 1 : 0;
    silent = tap.delivered === seen && !running.isPaused ? silent + 1 : 0;
    const isBehind = behind === BEHIND_LOOKS;
    if (!isBehind && (isFirst || silent !== SILENT_LOOKS)) continue;
    if (isBehind) behind = 0;
    const pids = isBehind ? [running.pid, self] : [running.pid];
    // One child for all: it gets no more of a processor than they do.
    const [stat, ...limits] = await sideLook(files.texts([`/proc/${running.pid}/stat`, ...pids.map((pid) => `/proc/${pid}/limits`)]), []);
    const state = parseStat(stat ?? "")?.state;
    // Who was stopped by somebody else, or is silent because it stands still or waits for llmprof to read, lacks no processor.
    if (isBehind ? state === "T" || state === "t" : state !== "R") continue;
    isFirst = true;
    // The kernel ends a real-time process that reads for longer.
    const isLimited = limits.some((text) => /^Max realtime timeout +\d/m.test(text ?? ""));
    const how = isLimited ? failed("RLIMIT_RTTIME") : await putFirst(pids, spawn);
    // It ended before it could be.
    if (tap.closed) return;
    tell(`${isBehind ? "what comes was not read as fast as it comes" : `bpftrace got no processor for ${SILENT_LOOKS * LOOK_MS / 1000} s`}${how}`);
    if (isBehind) return;
  }
}

/** Returns how that went, as the end of a sentence. What they start from then on, as the programs that llmprof looks at the machine with, does without. */
async function putFirst(pids: readonly number[], spawn: Hands["spawn"]): Promise<string> {
  const args = (pid: number) => ["-a", "-R", "-r", "-p", `${PRIORITY}`, `${pid}`];
  const chrt = async (pid: number) => await spawn({ program: "chrt", args: args(pid), newSession: true }).status;
  const ends = await Promise.all(pids.map((pid) => sideLook(chrt(pid), null)));
  return ends.every((end) => end?.code === 0) ? ": since then what reads comes before whatever has no real-time priority" : failed("chrt");
}

function failed(why: string): string {
  return `, and could not be put before others (${why}): events may be lost, and sums come late`;
}
