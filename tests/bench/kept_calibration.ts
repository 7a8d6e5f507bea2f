import type { Summary } from "../../lib/analysis/summary.ts";
import type { Calibration } from "../../lib/machine/calibration.ts";
import { costOfHits, overheadOf } from "../../lib/session/prediction.ts";

/**
 * What would have been predicted of a run if a hit cost what it did when `kept` was measured; it predicted with `now`. Sites that do not tell how often they
 * were hit are taken for as much dearer as the others together. Null where nothing was predicted.
 */
export function predictedWith(
  kept: Calibration,
  now: Calibration,
  { overhead: { predicted }, probes }: Pick<Summary<unknown>, "overhead" | "probes">,
): number | null {
  if (predicted === null) return null;
  const hits = probes.map(({ cost, hits }) => ({ cost, count: hits ?? 0 }));
  // Of one nanosecond of the target's time.
  const ns = predicted / (1 + predicted);
  return overheadOf(ns * costOfHits(hits, kept) / costOfHits(hits, now), 1);
}
