import type { Fact } from "./fact.ts";
import type { SpanSink } from "./span.ts";
import type { Ns } from "./time.ts";

/**
 * `int`: decimal, signed; `time`: absolute CLOCK_BOOTTIME in nanoseconds, read as {@link Ns}; `text`: bytes that the program sent as
 * hexadecimal, decoded up to the first NUL (see text.ts). A record has at most one text, and it comes last, because its bytes are separated by spaces.
 */
export type FieldType = "int" | "time" | "text";

/** One field of a record: what the renderer prints and the parser reads. */
export interface Field {
  readonly name: string;
  readonly type: FieldType;
  /**
   * For people and for the schema in a recording: `bytes`, `ns`, `errno`, `address` … `subject`: the process that the record is about, when
   * that is not the one in whose context it was made; `subject thread`: its process and thread, as in who.ts. `code`, of a first field: where in the code
   * of the process the probe was hit. `aligned address`: see short_line.ts.
   */
  readonly unit?: string;
}

export type Value = number | string;

/** A record with time, process and meaning. Of a probe that is hot, it is valid during the call that hands it on. */
export interface Event {
  readonly at: Ns;
  /** The stream that carried it, such as `process` or `ggml`. */
  readonly stream: string;
  /** The probe and its record, such as `ggml/ops.op`. */
  readonly record: string;
  /** Thread group and thread as the initial PID namespace numbers them. */
  readonly pid: number;
  readonly tid: number;
  /** In the order of the record's fields. */
  readonly values: readonly Value[];
}

/** Sums at a moment: one row of a map that the program prints with its heartbeat. */
export interface Snapshot {
  /** Time of the heartbeat before the row: the row was read then or up to one pause of the reader later. */
  readonly at: Ns;
  readonly stream: string;
  /** The probe and its map, such as `files/cache.bytes`. */
  readonly map: string;
  readonly key: readonly number[];
  readonly value: number;
}

/**
 * Understands the records of one probe: pairs entries with returns, names things, and emits spans. It keeps what is open, reads no clock
 * and sees events in the order of time.
 */
export interface Decoder {
  event(event: Event, out: SpanSink): void;
  snapshot?(snapshot: Snapshot, out: SpanSink): void;
  fact?(fact: Fact, at: Ns, out: SpanSink): void;
  /** A few times a second: what is held back is told now, as far as it has ended. */
  beat?(out: SpanSink): void;
  /** The run is over at `at`, or a life of its target: close what is open and mark it `open`. */
  end(at: Ns, out: SpanSink): void;
}
