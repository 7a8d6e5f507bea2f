import type { Event, Field, Snapshot, Value } from "../events/event.ts";
import { shortenedText, textOf } from "../events/text.ts";
import { type Base, type Ns, parseNs } from "../events/time.ts";
import { type StreamSchema, TEXT_BYTES } from "../programs/schema.ts";
import { MapRows } from "./map_rows.ts";

/** Receives what the lines of one stream mean. */
export interface LineHandler {
  event(event: Event): void;
  snapshot(snapshot: Snapshot): void;
  /** A heartbeat: no event older than `at` less the stream's disorder will follow. */
  beat(at: Ns): void;
  /** The same promise for the records that come as rows of maps, of which so many found their map full. */
  swept(at: Ns, refused: number): void;
  /** The kernel's count of emitted events, read when the heartbeat was printed. */
  emitted(count: number): void;
  window(at: Ns, open: boolean): void;
  /** bpftrace reports that its buffer was full. */
  lost(count: number): void;
  /** A line that no grammar fits: never dropped in silence. */
  undecodable(line: string): void;
}

interface RecordShape {
  readonly name: string;
  readonly fields: readonly Field[];
  /** Index of the field that says which process the record is about, where that is not the one that ran. */
  readonly subject: number;
}

/** The latest time that a line may tell: what the kernel's clock can hold, and every format. */
const LATEST = 2 ** 63 - 2 ** 10;
/** Far above the highest process id. */
const HIGHEST_ID = 2 ** 31 - 1;
/** What a number is below, on either side of zero: 64 bits with a sign, as programs print them and readers of traces take them. */
const INTEGERS = 2 ** 63;

/**
 * Reads the lines of one stream: `<kind> <nsecs> <pid> <tid> <field…>`, the heartbeat `(9, <nsecs>)` and printed maps. Character by
 * character, because half of llmprof's own time is spent here. A line may be anything, since recordings come from others.
 */
export class LineParser {
  readonly #records: readonly (RecordShape | undefined)[];
  readonly #maps: ReadonlyMap<string, string>;
  readonly #rows: MapRows | undefined;
  #lastBeat: Ns = NaN;

  constructor(readonly schema: StreamSchema, readonly base: Base, readonly handler: LineHandler) {
    const records: RecordShape[] = [];
    for (const [kind, { name, fields }] of Object.entries(schema.records)) {
      records[Number(kind)] = { name, fields, subject: fields.findIndex((field) => field.unit === "subject") };
    }
    this.#records = records;
    this.#maps = new Map(Object.entries(schema.maps));
    if (schema.rows) this.#rows = new MapRows(schema);
  }

  line(text: string): void {
    const first = text.charCodeAt(0);
    if (first >= 48 && first <= 57) return this.#record(text);
    if (text === "" || text === "ready") return;
    if (first === 40 /* ( */) return this.#beat(text);
    if (first === 64 /* @ */) return this.#rows?.isRow(text) ? this.#row(text) : this.#map(text);
    const lost = /^Lost (\d{1,15}) events/.exec(text);
    if (lost) return this.handler.lost(Number(lost[1]));
    this.handler.undecodable(text);
  }

  #record(text: string): void {
    const kindEnd = text.indexOf(" ");
    const shape = text.charCodeAt(0) === 48 ? undefined : this.#records[parseInteger(text, 0, kindEnd)];
    const timeEnd = text.indexOf(" ", kindEnd + 1);
    const at = parseNs(text, kindEnd + 1, timeEnd, this.base);
    if (!shape || !(at < LATEST)) return this.handler.undecodable(text);
    if (shape.name === "clock") return;
    let from = timeEnd + 1;
    const next = (): number => {
      const space = text.indexOf(" ", from);
      const end = space < 0 ? text.length : space;
      const value = parseInteger(text, from, end);
      from = end + 1;
      return value;
    };
    let pid = next();
    let tid = next();
    const values: Value[] = [];
    let valid = pid >= 0 && pid <= HIGHEST_ID && tid >= 0 && tid <= HIGHEST_ID;
    for (const field of shape.fields) {
      if (field.type === "text") {
        const bytes = bytesOfHex(text, from);
        // A program sends the beginning of a longer text, and then no NUL; a fact is whole.
        const cut = bytes?.length === TEXT_BYTES && shape.name !== "host.fact";
        values.push(bytes === null ? "" : cut ? shortenedText(bytes) : textOf(bytes));
        valid &&= bytes !== null;
        from = text.length + 1;
      } else if (field.type === "time") {
        const space = text.indexOf(" ", from);
        const end = space < 0 ? text.length : space;
        const value = parseNs(text, from, end, this.base);
        values.push(value);
        valid &&= value < LATEST;
        from = end + 1;
      } else {
        const value = next();
        values.push(value);
        valid &&= value === value;
      }
    }
    // A line that was cut has too few fields (NaN); one that ran into the next has too many.
    if (!valid || from <= text.length) return this.handler.undecodable(text);
    if (shape.name === "window.open" || shape.name === "window.close") return this.handler.window(at, shape.name === "window.open");
    if (shape.subject >= 0) pid = tid = values[shape.subject] as number;
    if (!(pid >= 0 && pid <= HIGHEST_ID)) return this.handler.undecodable(text);
    this.handler.event({ at, stream: this.schema.stream, record: shape.name, pid, tid, values });
  }

  #row(text: string): void {
    const record = this.#rows!.record(text);
    if (record === null) return this.handler.undecodable(text);
    if (record !== "") this.#record(record);
  }

  #beat(text: string): void {
    const swept = text.startsWith("(8, ") && text.endsWith(")") ? parseNs(text, 4, text.length - 1, this.base) : NaN;
    if (Number.isFinite(swept)) {
      return this.handler.swept(swept, this.#rows?.swept() ?? 0);
    }
    const at = text.startsWith("(9, ") && text.endsWith(")") ? parseNs(text, 4, text.length - 1, this.base) : NaN;
    if (!(at < LATEST)) return this.handler.undecodable(text);
    this.#lastBeat = at;
    this.handler.beat(at);
  }

  /** `@n: 12`, `@map: 12`, `@map[1, 2]: 12`. */
  #map(text: string): void {
    const row = /^@(\w+)(?:\[(-?\d{1,19}(?:, -?\d{1,19})*)\])?: (\d{1,18})$/.exec(text);
    const [, name = "", key, value] = row ?? /^@(\w*)(?:\[[^\]]*\])?: /.exec(text) ?? [];
    const map = this.#maps.get(name);
    if (!row) return name === "n" || map || !/^@\w*(\[[^\]]*\])?: /.test(text) ? this.handler.undecodable(text) : undefined;
    if (name === "n") return this.handler.emitted(Number(value));
    // The program's own state (@w, @tree …) is printed when bpftrace ends; it says nothing about the target.
    if (!map || !Number.isFinite(this.#lastBeat)) return;
    this.handler.snapshot({ at: this.#lastBeat, stream: this.schema.stream, map, key: key ? key.split(", ").map(Number) : [], value: Number(value) });
  }
}

/** A decimal integer in text[from, to), or NaN. */
function parseInteger(text: string, from: number, to: number): number {
  let i = from;
  const negative = text.charCodeAt(i) === 45;
  if (negative) i++;
  if (i >= to) return NaN;
  let value = 0;
  for (; i < to; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return NaN;
    value = value * 10 + digit;
  }
  if (value >= INTEGERS) return NaN;
  return negative ? -value : value;
}

/** `6c 6b 00 ff` → the bytes before the first NUL; null when it is no such list. */
export function bytesOfHex(text: string, from: number): Uint8Array | null {
  const bytes: number[] = [];
  if (from >= text.length) return null;
  for (let i = from; i < text.length; i += 3) {
    const byte = hexDigit(text.charCodeAt(i)) * 16 + hexDigit(text.charCodeAt(i + 1));
    if (!(byte >= 0) || (i + 2 < text.length && text.charCodeAt(i + 2) !== 32)) return null;
    if (byte === 0) break;
    bytes.push(byte);
  }
  return new Uint8Array(bytes);
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  if (code >= 97 && code <= 102) return code - 87;
  return NaN;
}
