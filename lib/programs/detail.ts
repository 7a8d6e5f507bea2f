import type { Probe } from "./probe.ts";

/**
 * How much of an engine is seen, from most to least: every operator and its workers' waits for each other, every operator, sums of every operator, every
 * graph, a timer's samples of who runs, every token.
 */
export const details = ["wait", "op", "sum", "graph", "sample", "token"] as const;
export type Detail = (typeof details)[number];

/** A timer's samples in a second of CPU time: more would cost too much where an interrupt is dear (see `TIMER_NS`), and 100 keeps step with others. */
export const SAMPLES_PER_SECOND = 99;

/** Details at which each operator is told of, those at which operators are looked at, and those at which graphs are. */
export const withEveryOperator: readonly Detail[] = ["wait", "op"];
export const withOperators: readonly Detail[] = [...withEveryOperator, "sum"];
export const withGraphs: readonly Detail[] = [...withOperators, "graph"];

/** What to type where operators cannot be told apart by a probe of theirs: a timer needs none. */
export const BY_FUNCTIONS = "--detail sample tells operators by their functions, where these have names";

/** What a recording says of itself; those from before there was a choice saw everything. */
export function asDetail(said: unknown): Detail {
  return details.find((detail) => detail === said) ?? "op";
}

/** Options that ask for a probe; a number is how rarely it is told: once in so many events, or milliseconds. */
export type Asking = { readonly [option in NonNullable<Probe["asked"]>]?: true | number };

/** Without those that an option has to ask for, and did not. */
export function askedFor(probes: readonly Probe[], options: Asking): readonly Probe[] {
  return probes.flatMap((probe) => {
    const asking = probe.asked === undefined || options[probe.asked];
    if (!asking) return [];
    return typeof asking === "number" && probe.every ? [probe.every(asking)] : [probe];
  });
}

/** The probes of a detail: its own, and those that are part of each. */
export function probesOf(detail: Detail, probes: readonly Probe[]): readonly Probe[] {
  return probes.filter((probe) => probe.details?.includes(detail) ?? true);
}

/** `most` and those after it that see something else than the one before. */
export function detailsOf(probes: readonly Probe[], most: Detail): Detail[] {
  const asked = details.slice(details.indexOf(most));
  const names = (detail: Detail) => probesOf(detail, probes).map(({ name }) => name).join();
  return asked.filter((detail, i) => i === 0 || names(detail) !== names(asked[i - 1]!));
}
