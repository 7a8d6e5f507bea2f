import type { Event, Field, Snapshot, Value } from "../events/event.ts";
import { shortenedText, textOf } from "../events/text.ts";
import { type Base, type Ns, parseNs } from "../events/time.ts";
import { Kind, LINES, type StreamSchema, SWEPT, TEXT_BYTES } from "../programs/schema.ts";
import { isShort } from "../programs/short_line.ts";
import { isWho, pidOf, tidOf } from "../programs/who.ts";
import { BufferBeats } from "./buffer_beats.ts";
import { probeOf } from "./dispatch.ts";
import { LineFields } from "./line_fields.ts";
import type { TakeLines } from "./lines.ts";
import { MapRows } from "./map_rows.ts";
import { SpareEvents } from "./spare_events.ts";

/** Receives what the lines of one stream mean. */
export interface LineHandler {
  /** `kind`: what its line began with. */
  event(event: Event, kind: number): void;
  /** `line`: for who finds that it is no row of this map. */
  snapshot(snapshot: Snapshot, line: string): void;
  /** A heartbeat, of all buffers where there are several: no event older than `at` less the stream's disorder will follow. */
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
  readonly hasText: boolean;
  /** Where its events come from, when they are filled again and again. */
  readonly spare: SpareEvents | undefined;
  /** Its lines may be short ones. */
  readonly isShort: boolean;
  /** Of a probe that has such a record: its lines, which are whole, say to which process a thread belongs. */
  readonly tellsProcess: boolean;
  /** It comes in rows of maps. */
  readonly inRows: boolean;
  /** Index of the field that says which process the record is about, where that is not the one that ran. */
  readonly subject: number;
  /** It says the thread, too. */
  readonly isThread: boolean;
}

/** The latest time that a line may tell: what the kernel's clock can hold, and every format. */
const LATEST = 2 ** 63 - 2 ** 10;
/** Far above the highest process id. */
const HIGHEST_ID = 2 ** 31 - 1;
/** No next line: this one was not read. */
const NONE = -1;
const NEWLINE = 10;

/**
 * Reads the lines of one stream: `<kind> <nsecs> <who> <field…>`, the heartbeat `(9, <nsecs>)` and printed maps, some of whose rows are records
 * too. Records are read where they lie in the block; only the other lines, which come ten times a second, become strings first. A line may be
 * anything, since recordings come from others.
 */
export class LineParser {
  readonly #records: readonly (RecordShape | undefined)[];
  readonly #maps: ReadonlyMap<string, string>;
  readonly #rows: MapRows | undefined;
  readonly #fields: LineFields;
  readonly #beats: BufferBeats | undefined;
  /** By thread: its process, of threads whose lines may be short ones. */
  readonly #processes = new Map<number, number>();
  #lastBeat: Ns = NaN;

  constructor(readonly schema: StreamSchema, readonly base: Base, readonly handler: LineHandler, spare?: SpareEvents) {
    const records: RecordShape[] = [];
    const shortening = new Set(Object.values(schema.records).filter(({ fields }) => isShort(fields)).map(({ name }) => probeOf(name)));
    for (const [kind, { name, fields }] of Object.entries(schema.records)) {
      const hasText = fields.some((field) => field.type === "text");
      const inRows = schema.rows?.includes(name) ?? false;
      const subject = fields.findIndex(({ unit }) => unit === "subject" || unit === "subject thread");
      const isThread = fields[subject]?.unit === "subject thread";
      const spares = !hasText && spare?.isPassing(name) ? spare : undefined;
      const short = isShort(fields);
      const tellsProcess = !short && shortening.has(probeOf(name));
      records[Number(kind)] = {
        name: interned(name),
        fields,
        hasText,
        isShort: short,
        tellsProcess,
        spare: spares,
        inRows,
        subject,
        isThread,
      };
    }
    this.#records = records;
    this.#maps = new Map(Object.entries(schema.maps));
    if (schema.rows) this.#rows = new MapRows();
    if (schema.buffers !== undefined) this.#beats = new BufferBeats(schema.buffers);
    this.#fields = new LineFields(base);
  }

  /** Lines in bytes [from, to), the last with its newline too. */
  readonly lines: TakeLines = (bytes, from, to) => {
    for (let at = from; at < to;) {
      const first = bytes[at]!;
      const isRecord = first >= 48 && first <= 57;
      const next = isRecord ? this.#record(bytes, at) : first === 64 /* @ */ && this.#rows ? this.#row(this.#rows, bytes, at) : NONE;
      if (next !== NONE) {
        at = next;
        continue;
      }
      const end = bytes.indexOf(10, at);
      const text = utf8.decode(bytes.subarray(at, end));
      if (isRecord) this.handler.undecodable(text);
      else this.#other(text, first);
      at = end + 1;
    }
  };

  #other(text: string, first: number): void {
    if (text === "" || text === "ready") return;
    if (first === 40 /* ( */) return this.#beat(text);
    if (first === 64 /* @ */) return this.#map(text);
    const lost = /^Lost (\d{1,15}) events/.exec(text);
    if (lost) return this.handler.lost(Number(lost[1]));
    this.handler.undecodable(text);
  }

  /**
   * Returns where the next line begins, {@link NONE} for what is no record of this stream: a line that was cut has too few fields, one that ran
   * into the next has too many.
   */
  #record(bytes: Uint8Array, from: number): number {
    const line = this.#fields;
    line.begin(bytes, from);
    const kind = line.kind();
    const shape = this.#records[kind];
    const at = line.time();
    if (!shape || !(at < LATEST)) return NONE;
    // Its wall-clock time is for who starts the program: see clock_line.ts.
    if (kind === Kind.clock) {
      if (line.end >= 0) return NONE;
      this.#beats?.line();
      return line.skip();
    }
    const event = this.#event(shape, at);
    if (event === null || line.end < 0) return NONE;
    this.#beats?.line();
    if (shape.tellsProcess) this.#processes.set(event.tid, event.pid);
    if (kind === Kind.open || kind === Kind.close) this.handler.window(at, kind === Kind.open);
    else this.handler.event(event, kind);
    return line.end + 1;
  }

  /** `@rows0[<nsecs>, <cpu>]: (<kind>, <who>, <field…>, 0…)`: the same of a row, whose record zeros fill up. */
  #row(rows: MapRows, bytes: Uint8Array, from: number): number {
    const row = this.#fields;
    const at = rows.begin(row, bytes, from);
    if (!(at < LATEST)) return NONE;
    const kind = row.kind();
    const shape = this.#records[kind];
    const event = shape?.inRows ? this.#event(shape, at) : null;
    if (event === null) return NONE;
    while (row.end < 0) if (row.integer() !== 0) return NONE;
    const next = row.end + 2;
    if (bytes[next - 1] !== NEWLINE) return NONE;
    if (rows.isNew()) this.handler.event(event, kind);
    return next;
  }

  /** What follows kind and time; null where it is something else. */
  #event(shape: RecordShape, at: Ns): Event | null {
    if (shape.isShort && this.#fields.short()) return this.#short(shape, at);
    const who = this.#fields.integer();
    if (!isWho(who)) return null;
    const spare = shape.spare?.take(shape.fields.length);
    const values = shape.hasText ? this.#values(shape) : this.#numbers(shape.fields, spare?.values ?? new Array<number>(shape.fields.length));
    if (values === null) return null;
    let pid = pidOf(who), tid = tidOf(who);
    if (shape.subject >= 0) {
      const subject = values[shape.subject] as number;
      if (!shape.isThread) pid = tid = subject;
      else if (!isWho(subject)) return null;
      else [pid, tid] = [pidOf(subject), tidOf(subject)];
    }
    if (!(pid >= 0 && pid <= HIGHEST_ID)) return null;
    const { stream } = this.schema;
    return spare?.as(at, stream, shape.name, pid, tid) ?? { at, stream, record: shape.name, pid, tid, values };
  }

  #short({ name, spare }: RecordShape, at: Ns): Event | null {
    const { shortThread: tid, shortAddress: value } = this.#fields;
    const pid = this.#processes.get(tid);
    if (pid === undefined) return null;
    const { stream } = this.schema;
    if (!spare) return { at, stream, record: name, pid, tid, values: [value] };
    const event = spare.take(1);
    event.values[0] = value;
    return event.as(at, stream, name, pid, tid);
  }

  /** Apart from {@link #values}, because an array made here holds numbers and nothing else, which the engine stores without a box for each. */
  #numbers(fields: readonly Field[], values: number[]): number[] | null {
    for (let i = 0; i < fields.length; i++) {
      const value = this.#number(fields[i]!);
      if (value !== value) return null;
      values[i] = value;
    }
    return values;
  }

  #values({ name, fields }: RecordShape): Value[] | null {
    const values = new Array<Value>(fields.length);
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i]!;
      const value = field.type === "text" ? this.#text(name) : this.#number(field);
      if (value === null || value !== value) return null;
      values[i] = value;
    }
    return values;
  }

  #number({ type }: Field): number {
    if (type === "int") return this.#fields.integer();
    const at = this.#fields.time();
    return at < LATEST ? at : NaN;
  }

  /** A program sends the beginning of a longer text, and then no NUL; a fact is whole. */
  #text(record: string): string | null {
    const bytes = this.#fields.bytes();
    if (bytes === null) return null;
    return bytes.length === TEXT_BYTES && record !== "host.fact" ? shortenedText(bytes) : textOf(bytes);
  }

  #beat(text: string): void {
    const [, kind, digits = "", cpu] = /^\((\d), (\d{1,20})(?:, (\d{1,4}))?\)$/.exec(text) ?? [];
    const at = parseNs(utf8Bytes.encode(digits), 0, digits.length, this.base);
    const isWhole = at < LATEST && (cpu !== undefined) === (kind === "9" && this.#beats !== undefined);
    if (isWhole && kind === String(SWEPT) && this.#rows) return this.handler.swept(at, this.#rows.swept());
    if (!isWhole || kind !== "9") return this.handler.undecodable(text);
    // What all buffers promise may lag behind; maps that are printed are as young as the last heartbeat.
    if (!(at < this.#lastBeat)) this.#lastBeat = at;
    this.#promise(this.#beats ? this.#beats.told(Number(cpu), at) : at);
  }

  #promise(at: Ns | null): void {
    if (at !== null) this.handler.beat(at);
  }

  /** `@n: 12`, `@map: 12`, `@map[1, 2]: 12`. */
  #map(text: string): void {
    if (this.#rows?.owns(text)) return this.#rows.offered(text) ? undefined : this.handler.undecodable(text);
    const row = /^@(\w+)(?:\[(-?\d{1,19}(?:, -?\d{1,19})*)\])?: (\d{1,18})$/.exec(text);
    const [, name = "", key, value] = row ?? /^@(\w*)(?:\[[^\]]*\])?: /.exec(text) ?? [];
    const map = this.#maps.get(name);
    if (!row) return name === "n" || map || !/^@\w*(\[[^\]]*\])?: /.test(text) ? this.handler.undecodable(text) : undefined;
    if (name === "n") return this.handler.emitted(Number(value));
    if (name === LINES && this.#beats) return this.#promise(this.#beats.counted(Number(value)));
    // The program's own state (@w, @tree …) is printed when bpftrace ends; it says nothing about the target.
    if (!map || !Number.isFinite(this.#lastBeat)) return;
    const numbers = key ? key.split(", ").map(Number) : [];
    this.handler.snapshot({ at: this.#lastBeat, stream: this.schema.stream, map, key: numbers, value: Number(value) }, text);
  }
}

const utf8 = new TextDecoder(), utf8Bytes = new TextEncoder();

/** The same string object for equal names, as keys of objects are: comparing two of them is comparing two pointers. */
function interned(name: string): string {
  return Object.keys({ [name]: 0 })[0]!;
}
