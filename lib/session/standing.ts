import { readStat } from "../target/process.ts";
import type { Means } from "./means.ts";

/** Milliseconds from one look to the next. */
export const POLL_MS = 2;

/** Waits until a process that was sent a stop really stands, for so long at most, and says whether it does. One that is gone does not. */
export async function stands({ files, sleep }: Pick<Means, "files" | "sleep">, pid: number, longestMs: number): Promise<boolean> {
  for (let waited = 0; waited < longestMs; waited += POLL_MS) {
    const stat = await readStat(files, pid);
    if (!stat || stat.state === "T") return stat !== null;
    await sleep(POLL_MS);
  }
  return false;
}
