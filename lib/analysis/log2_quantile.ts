/**
 * The nearest-rank quantile of microseconds that were counted by powers of two (slot n: from 2^n to 2^(n+1) − 1, and 0 those below, too), in nanoseconds: the
 * upper end of its power of two, so that what was measured is at most that, and more than half of it. Counts may be parts. Null without any.
 */
export function log2Quantile(slots: ReadonlyMap<number, number>, q: number): number | null {
  const counted = [...slots].filter(([, count]) => count > 0);
  let left = q * counted.reduce((sum, [, count]) => sum + count, 0);
  for (const [slot, count] of counted.sort(([a], [b]) => a - b)) {
    left -= count;
    if (left <= 0) return 2 ** (slot + 1) * 1000;
  }
  return null;
}
