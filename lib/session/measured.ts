import type { Decode } from "./decodes.ts";

/** Fewer calls than this say nothing about a few percent. */
const FEWEST = 20;

/**
 * How much longer a decode of one token took with all probes than with next to none, as a fraction; null where there were too few in the context that
 * was decoding last. As many are compared as there were without: attention takes longer with each token, and so a later one says something else.
 * Medians, because a machine that does something else now and then lengthens some of them.
 */
export function measuredOverhead(without: readonly Decode[], traced: readonly Decode[]): number | null {
  const inContext = (decodes: readonly Decode[]) => decodes.filter(({ context }) => context === without.at(-1)?.context).map(({ ns }) => ns);
  const before = inContext(without), after = inContext(traced).slice(0, before.length);
  return before.length < FEWEST || after.length < FEWEST ? null : median(after) / median(before) - 1;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
}
