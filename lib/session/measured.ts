/** Fewer calls than this say nothing about a few percent. */
const FEWEST = 20;

/**
 * How much longer a decode of one token took with all probes than with next to none, as a fraction; null where there were too few. Medians, because
 * a machine that does something else now and then lengthens some of them.
 */
export function measuredOverhead(without: readonly number[], traced: readonly number[]): number | null {
  return without.length < FEWEST || traced.length < FEWEST ? null : median(traced) / median(without) - 1;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
}
