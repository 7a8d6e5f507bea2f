import type { Span } from "../events/span.ts";
import type { View } from "../events/view.ts";
import type { IoResult } from "./io_schema.ts";

/**
 * Spans → typed result. An analysis sees each span once, as it ends, and keeps sums, never the spans: a recording of any length replays in
 * the same memory. Pure: no clock, no file, no machine.
 */
export interface Analysis<Result> {
  span(span: Span): void;
  /** Called once, after the last span. */
  result(beside?: Beside): Result;
}

/** What others answered in the same run. */
export interface Beside {
  readonly io?: IoResult | undefined;
}

/** Result → what a person sees of it. */
export type Present<Result> = (result: Result) => readonly View[];
