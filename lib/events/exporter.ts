import type { Span } from "./span.ts";
import type { Clock } from "./time.ts";
import type { View } from "./view.ts";

/** Takes bytes in order; synchronous, so that memory stays bounded by what one call passes. */
export interface ByteSink {
  /** `tail` goes behind them, for whoever reads before the next call, which takes its place. A sink passes both on at once, and is never without an end. */
  write(bytes: Uint8Array, tail?: Uint8Array): void;
  /**
   * Puts bytes in place of the last `count` that were written; absent where what was written is gone. Where more were there, what is left of them stands behind
   * `cover` until it is cut off: what begins so many bytes that no reader looks at.
   */
  replace?(count: number, bytes: Uint8Array, cover: (length: number) => Uint8Array): void;
  /** Returns when all that was written up to the last tail is on the disk; absent where a sink has none. */
  sync?(): void;
  close(): void;
  /** Nothing was written: what was there before stays as it was. */
  discard?(): void;
}

/** What a trace says about its run before the first span. Comes from the recording's header, so a replay has the same. */
export interface TraceHead {
  readonly clock: Clock;
  readonly llmprof: string;
  readonly command: string;
  /** Machine and run facts to be kept with the trace, such as `kernel` → `6.18`. */
  readonly facts: Readonly<Record<string, string>>;
}

/** What writes a file of one format (a trace, a graph of operators, snapshots): it takes spans and, at the end, views. It reads no clock. */
export interface Exporter {
  span(span: Span): void;
  /** Makes the sink hold everything given so far in a form that opens, in case that nothing follows. What is written in the end stays the same. */
  flush(): void;
  close(views: readonly View[]): void;
  /** A sentence, where what was written is nothing but a frame: known when it is closed. */
  readonly empty?: string | undefined;
}

export type OpenExporter = (sink: ByteSink, head: TraceHead) => Exporter;
