import { readStat } from "../target/process.ts";
import type { Means } from "./means.ts";
import { sideLook } from "./side_look.ts";

const STEP_MS = 1500;
/** So many times as long is waited for who is held up and nothing else. */
const HELD_UP = 10;

/**
 * Resolves when llmprof has waited for so long. Time in which it did not run does not count: after a Ctrl-Z, or when the machine was asleep,
 * what it waits for may be there and only has to be read.
 */
export async function patience(sleep: Means["sleep"], milliseconds: number): Promise<void> {
  for (let left = milliseconds; left > 0; left -= STEP_MS) await sleep(Math.min(left, STEP_MS));
}

/**
 * The same for a process that has something to do, until `isOver`. Time in which it was held up counts for a tenth: it waited for a disk or the kernel, got none
 * of the processor's time that it wanted, or was stopped. On a machine of which a part stands still, it hangs no more than the machine does.
 */
export async function patienceWith(
  pid: number,
  { sleep, files }: Pick<Means, "sleep" | "files">,
  milliseconds: number,
  isOver: () => boolean,
): Promise<void> {
  for (let left = milliseconds, used: number | undefined; left > 0;) {
    await sleep(STEP_MS);
    if (isOver()) return;
    const stat = await sideLook(readStat(files, pid), null);
    const isHeldUp = stat !== null && (/[DTt]/.test(stat.state) || (stat.state === "R" && stat.cpuSeconds === used));
    used = stat?.cpuSeconds;
    left -= isHeldUp ? STEP_MS / HELD_UP : STEP_MS;
  }
}
