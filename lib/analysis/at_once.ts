import type { Intervals } from "./intervals.ts";

/** Of the time in which any of them lived: who ends and who begins may meet for a moment. */
const TOGETHER = 0.01;

/** How many of these lived at once: the largest number of them that was there together for long enough. */
export function atOnce(lives: readonly Intervals[]): number {
  const changes = lives.flatMap((life) => [...life].flatMap(([start, end]) => [{ at: start, by: 1 }, { at: end, by: -1 }])).sort((a, b) =>
    a.at - b.at
  );
  /** By how many there were: for how long. */
  const times = new Array<number>(lives.length + 1).fill(0);
  let living = 0, since = 0;
  for (const { at, by } of changes) {
    times[living]! += at - since;
    living += by;
    since = at;
  }
  const all = times.slice(1).reduce((sum, ns) => sum + ns, 0);
  let number = lives.length;
  for (let together = times[number]!; number > 0 && together < TOGETHER * all; together += times[number]!) number--;
  return number;
}
