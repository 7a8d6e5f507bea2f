/**
 * Drawable pieces of a result. A command presents its result as views; the terminal's text, `.jsonl` and the pictures of `report` draw the same ones.
 * Numbers stay numbers, with their unit: how `1234567 ns` is written is the exporter's affair.
 */
export type Unit = "ns" | "bytes" | "count" | "ratio" | "per-second" | "bytes-per-second" | "flops-per-second" | "text";

export interface Column {
  readonly title: string;
  readonly unit: Unit;
  /** Text too long for a column: it stands on lines of its own, under its row. */
  readonly below?: true;
}

export interface Table {
  readonly type: "table";
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly (string | number | null)[])[];
}

/** Steps one after another on one time axis, `ns` from the axis' beginning. */
export interface Waterfall {
  readonly type: "waterfall";
  readonly title: string;
  readonly total: number;
  readonly steps: readonly { readonly name: string; readonly start: number; readonly duration: number; readonly note?: string }[];
}

/** A few figures in one line each: `tokens/s  102.3`. */
export interface Facts {
  readonly type: "facts";
  readonly title: string;
  readonly facts: readonly { readonly name: string; readonly value: string | number | null; readonly unit: Unit; readonly note?: string }[];
}

/** Figures over time. The charts of a result share one time axis. */
export interface Chart {
  readonly type: "chart";
  readonly title: string;
  readonly unit: Unit;
  /** `log`: by powers of two (of microseconds, where they are times). `stacked`: parts of a whole, one upon another. */
  readonly form: "lines" | "log" | "stacked";
  /** When each interval begins and ends, in milliseconds since 1970, in order. */
  readonly intervals: readonly (readonly [begin: number, end: number])[];
  readonly series: readonly Series[];
}

export interface Series {
  readonly name: string;
  /** A value for each interval; null: not known. */
  readonly values: readonly (number | null)[];
  /** Where there are several figures of one: it has one colour and one entry of a picture's legend, and the title says which line is which figure. */
  readonly of?: { readonly name: string; readonly figure: string; readonly dashed: boolean };
}

/** A sentence for the reader; `warning` when the figures beside it may mislead without it. */
export interface Note {
  readonly type: "note";
  readonly level: "info" | "warning";
  readonly text: string;
  /** A line to type, shown below the sentence and never broken. */
  readonly command?: string;
}

export type View = Table | Waterfall | Facts | Chart | Note;
