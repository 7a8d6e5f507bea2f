import type { Field } from "../events/event.ts";

/** What the lines of one stream mean. Written at the head of a recording's stream, so that a recording explains itself. */
export interface StreamSchema {
  readonly stream: string;
  /** Line kind (the first field) → its record. */
  readonly records: Readonly<Record<string, { readonly name: string; readonly fields: readonly Field[] }>>;
  /** Printed map (without `@`) → its full name, such as `files/cache.bytes`. */
  readonly maps: Readonly<Record<string, string>>;
  /** Until how long after a heartbeat's time an older event may still come: a program may be off its processor between its look at the clock and sending. */
  readonly disorderNs: number;
  /**
   * How many buffers there are, one for each processor, read one after another: each has heartbeats of its own, `(9, <nsecs>, <cpu>)`, and what one
   * promises says nothing of the others. `@lines` is how many lines of records have been written into all of them. Absent where all
   * processors share one.
   */
  readonly buffers?: number;
  /**
   * Records that come as rows of the maps `@rows0` to `@rows2`, absent where there is none: `@rows0[<nsecs>, <cpu>]: (<kind>, <who>, <field…>)`,
   * filled up with zeros. A map's rows are printed together, late and in order of time, and with them in `@offered0` to `@offered2` how many the
   * map was ever offered; `(8, <nsecs>)` promises that all rows of before have been printed.
   */
  readonly rows?: readonly string[];
}

/** Name of the counter of lines, where each processor has a buffer of its own. */
export const LINES = "lines";
/** Name of the maps whose rows are records, without their number. */
export const ROWS = "rows";
/** Name of the counters beside them: what a full map refused is the difference. */
export const OFFERED = "offered";
/** What begins the line that says until when all rows have been printed. */
export const SWEPT = 8;

/** Kinds that every stream has; those of the probes' records begin after them. */
export const Kind = { open: 1, close: 2, clock: 3, first: 10 } as const;

/** Most bytes of a text that a template sends (`buf(p, 64)`): what the stack of a BPF program holds on bpftrace 0.17. Without a NUL, there were more. */
export const TEXT_BYTES = 64;
/** Most of a name that is told in pieces, or by a fact: kernels of CUTLASS 3 and of FlashAttention differ behind the thousandth character. */
export const NAME_BYTES = 32 * TEXT_BYTES;
