import type { Probe } from "../programs/probe.ts";

/** How much of an engine is seen, from most to least: every operator, every graph, every token. */
export const details = ["op", "graph", "token"] as const;
export type Detail = (typeof details)[number];

/**
 * The probes of a detail. What is hit at the rate of operators is marked hot; the graph is what stands beside these in the same library; the rest
 * is hit at the rate of tokens or less.
 */
export function probesOf(detail: Detail, probes: readonly Probe[]): readonly Probe[] {
  if (detail === "op") return probes;
  const cool = probes.filter(({ hot }) => !hot);
  if (detail === "graph") return cool;
  const libraries = new Set(probes.filter(({ hot }) => hot).map(({ library }) => library?.prefix));
  return cool.filter(({ library }) => !library || !libraries.has(library.prefix));
}

/** Those in which something is left out against the one before. */
export function detailsOf(probes: readonly Probe[]): Detail[] {
  return details.filter((detail, i) => i === 0 || probesOf(detail, probes).length < probesOf(details[i - 1]!, probes).length);
}
