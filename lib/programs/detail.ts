import type { Probe } from "./probe.ts";

/** How much of an engine is seen, from most to least: every operator, every graph, every token. */
export const details = ["op", "graph", "token"] as const;
export type Detail = (typeof details)[number];

/** What a recording says of itself; those from before there was a choice saw everything. */
export function asDetail(said: unknown): Detail {
  return details.find((detail) => detail === said) ?? "op";
}

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

/** `most` and those after it in which something is left out against the one before. */
export function detailsOf(probes: readonly Probe[], most: Detail): Detail[] {
  const asked = details.slice(details.indexOf(most));
  return asked.filter((detail, i) => i === 0 || probesOf(detail, probes).length < probesOf(asked[i - 1]!, probes).length);
}
