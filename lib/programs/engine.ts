/**
 * What a process computes with: `ggml` also where neither has been loaded, because it may be linked into the program, or come later. `learned torch`:
 * what runs of it is found out first. `any`: nobody runs yet. `totals`: that is nobody's concern, and sums are told instead of each event.
 */
export const engines = ["ggml", "torch", "learned torch", "any", "totals"] as const;
export type Engine = (typeof engines)[number];

/** What a recording says of itself; those from before there was another know but one. */
export function asEngine(said: unknown): Engine {
  return engines.find((engine) => engine === said) ?? "ggml";
}
