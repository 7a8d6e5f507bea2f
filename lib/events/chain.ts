import type { Chain, Slice, Span } from "./span.ts";
import type { Ns } from "./time.ts";

/** Each of its slices, in their order. */
export function slicesOf({ track, category, links, times }: Chain): Slice[] {
  return links.map(({ name, args, node }, i) => ({
    type: "slice",
    track,
    name,
    category,
    start: times[i]!,
    end: times[i + 1]!,
    ...(args && { args }),
    ...(node && { node }),
  }));
}

export type SingleSpan = Exclude<Span, Chain>;

/** What it stands for, one by one. */
export function singly(span: Slice | Chain): readonly Slice[];
export function singly(span: Span): readonly SingleSpan[];
export function singly(span: Span): readonly SingleSpan[] {
  return span.type === "chain" ? slicesOf(span) : [span];
}

/** When it is, or begins. */
export function beginOf(span: Span): Ns {
  if (span.type === "slice") return span.start;
  return span.type === "chain" ? span.times[0]! : span.at;
}
