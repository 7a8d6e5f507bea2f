import type { Means } from "./means.ts";

const STEP_MS = 1500;

/**
 * Resolves when llmprof has waited for so long. Time in which it did not run does not count: after a Ctrl-Z, or when the machine was asleep,
 * what it waits for may be there and only has to be read.
 */
export async function patience(sleep: Means["sleep"], milliseconds: number): Promise<void> {
  for (let left = milliseconds; left > 0; left -= STEP_MS) await sleep(Math.min(left, STEP_MS));
}
