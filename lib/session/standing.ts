import type { Fact } from "../events/fact.ts";
import { isOver, readStat } from "../target/process.ts";
import type { Means } from "./means.ts";

/** Milliseconds from one look to the next. */
export const POLL_MS = 2;

/**
 * Waits until a process that was sent a stop really stands, for so long at most, and says whether it does. One that is gone does not. Where a
 * debugger (strace, gdb) traces it, it stands for that one, and does not go on before it has been given the stop.
 */
export async function stands({ files, sleep }: Pick<Means, "files" | "sleep">, pid: number, longestMs: number): Promise<boolean> {
  for (let waited = 0; waited < longestMs; waited += POLL_MS) {
    const stat = await readStat(files, pid);
    // Of one whose main thread has ended nothing tells.
    if (!stat || ["T", "t"].includes(stat.state) || (stat.state === "Z" && !isOver(stat))) return stat !== null;
    await sleep(POLL_MS);
  }
  return false;
}

/**
 * Whether a process that has stood goes on: a shell's `fg`, whose signal is for a whole group, is seen by this alone. One that has ended does not, and who
 * waits for a disk may stand behind that.
 */
export async function goesOn({ files }: Pick<Means, "files">, pid: number): Promise<boolean> {
  const stat = await readStat(files, pid);
  return stat !== null && !["T", "t", "Z", "X", "D"].includes(stat.state);
}

const EARLY = "before probes were attached: what it did first may be missing";

/** A shell's `fg`, a guard's signal: whoever it was, the probes came late. */
export function continuedEarly(pid: number, by = "somebody"): Fact {
  return { fact: "note", text: `process ${pid} was continued by ${by} ${EARLY}` };
}

export function isContinuedEarly(fact: Fact): boolean {
  return fact.fact === "note" && fact.text.endsWith(EARLY);
}
