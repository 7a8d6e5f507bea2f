import type { Event, Snapshot } from "../events/event.ts";
import type { CodeFact, Fact } from "../events/fact.ts";
import type { Mark, SpanSink } from "../events/span.ts";
import { type Base, type Ns } from "../events/time.ts";
import { Tracks } from "../events/tracks.ts";
import type { MapShape, Probe } from "../programs/probe.ts";
import type { StreamSchema } from "../programs/schema.ts";
import { Dispatch, probeOf } from "./dispatch.ts";
import { parseFact } from "./facts.ts";
import { hostSchema } from "./host.ts";
import { LineSplitter } from "./lines.ts";
import { Merge } from "./merge.ts";
import { LineParser } from "./parse.ts";
import { SpareEvents } from "./spare_events.ts";
import { Tally } from "./tally.ts";
import { TreeFilter } from "./tree_filter.ts";

export interface TimelineOptions {
  readonly base: Base;
  readonly find: (probe: string) => Probe | undefined;
  readonly out: SpanSink;
  /** Only these processes and what they fork; for a program that watched every new process until the target was known. */
  readonly tree?: readonly number[];
  /** What llmprof did, in the order of time. */
  readonly onFact?: (fact: Fact, at: Ns) => void;
}

/** Sees what a stream says at once, before it is merged: for who has to act on it. */
export interface StreamObserver {
  event?(event: Event): void;
  beat?(at: Ns): void;
  /** So many more were reported as lost since this was told last. Of when, the stream says nothing: bpftrace reports them before it hands on what its buffer still held. */
  lost?(count: number): void;
  swept?(at: Ns): void;
  emitted?(count: number): void;
  window?(at: Ns, open: boolean): void;
}

/** One stream's way in: bytes as a program printed them. */
export interface StreamInput {
  write(bytes: Uint8Array): void;
  /** The stream has ended, in order or not. */
  close(): void;
}

/** llmprof gives a sign of life five times a second. */
const HOST_SILENCE_NS = 2e9;

/** llmprof's own heartbeat, where it stands among what others tell. */
interface Beat {
  readonly type: "beat";
  readonly at: Ns;
}

type Item = Event | Snapshot | Mark | Beat;

/**
 * Lines of all streams → spans, in order of time. A live run and a replay differ only in who calls `write`: what comes out depends on the
 * bytes alone.
 */
export class Timeline {
  readonly tracks = new Tracks();
  readonly tallies = new Map<string, Tally>();
  /** What addresses of processes stand for, as was told last. */
  readonly code = new Map<string, CodeFact>();
  readonly #dispatch: Dispatch;
  readonly #merge: Merge<Item>;
  readonly #tree: TreeFilter | undefined;
  /** Of the probes of the streams, by their full names. */
  readonly #maps = new Map<string, MapShape>();
  readonly #spare = new SpareEvents((record) => this.options.find(probeOf(record))?.hot === true);
  /** When the last window closed, or the last sign of life of a stream that never closed. */
  #end: Ns = -Infinity;
  #start: Ns = Infinity;
  /** Streams that count. */
  readonly #open = new Set<string>();
  /** When the last window was shut, as long as none has been opened after it. */
  #shut: Ns | null = null;
  /** The last sign of life of llmprof's own stream; none where there is no such stream. */
  #hostEnd: Ns = Infinity;

  constructor(readonly options: TimelineOptions) {
    this.#dispatch = new Dispatch(options.find, this.tracks, options.out);
    this.#tree = options.tree && new TreeFilter(options.tree);
    this.#merge = new Merge((item) => this.#release(item));
  }

  /** `from`: nothing on this stream is older. A stream that joins a live run must be added before any event of it can happen. */
  add(schema: StreamSchema, from?: Ns, observer?: StreamObserver): StreamInput {
    const tally = new Tally(schema.records);
    this.tallies.set(schema.stream, tally);
    const isHost = schema.stream === hostSchema.stream;
    this.#dispatch.add(schema);
    for (const probe of new Set(Object.values(schema.maps).map(probeOf))) {
      const { maps, sums } = this.options.find(probe) ?? {};
      for (const [map, shape] of Object.entries({ ...maps, ...sums })) this.#maps.set(`${probe}.${map}`, shape);
    }
    const input = this.#merge.input(schema.stream, from);
    // Rows come later than lines of the same time, in an order of their own.
    const rows = schema.rows && this.#merge.input(schema.stream, from);
    const isRow = new Set(schema.rows);
    // A stream that has not told any time yet complains at the run's base.
    const mark = (at: Ns, kind: Mark["kind"], text: string, more: Pick<Mark, "count" | "open"> = {}) =>
      input.push({ type: "mark", at: Number.isFinite(at) ? at : 0, kind, stream: schema.stream, text, ...more });
    const undecodable = (line: string) => {
      tally.undecodable++;
      mark(latest, "undecodable", `${schema.stream}: not understood: ${line.slice(0, 200)}`, { count: 1 });
    };
    let latest: Ns = from ?? -Infinity;
    let unmarked = 0;
    let late = 0;
    let opened = false;
    let closed: Ns | undefined;
    let lastBeat: Ns = -Infinity;
    /** The kernel's count from behind the end has been read: maps that are printed once more say nothing new, and nobody waits for the end of them. */
    let isWhole = false;
    const parser = new LineParser(schema, this.options.base, {
      event: (event, kind) => {
        // llmprof counts what others emit, not what it says itself.
        if (!isHost) tally.event(kind, event.at, event.values);
        if (event.at > latest) latest = event.at;
        if ((rows && isRow.has(event.record) ? rows : input).push(event)) late++;
        observer?.event?.(event);
      },
      snapshot: (snapshot, line) => {
        const map = this.#maps.get(snapshot.map);
        // Decoders rely on a key as they do on the fields of a record.
        if (map && map.key.length !== snapshot.key.length) undecodable(line);
        else input.push(snapshot);
      },
      beat: (at) => {
        if (at > latest) latest = at;
        lastBeat = at;
        if (isHost) input.push({ type: "beat", at });
        input.advance(at - schema.disorderNs);
        observer?.beat?.(at);
        if (unmarked > 0) observer?.lost?.(unmarked);
        unmarked = 0;
      },
      swept: (at, refused) => {
        tally.reported += refused;
        const text = `${schema.stream}: more came than bpftrace can print`;
        if (refused > 0) rows?.push({ type: "mark", at, kind: "lost", stream: schema.stream, text, count: refused });
        rows?.advance(at - schema.disorderNs);
        observer?.swept?.(at);
      },
      emitted: (count) => {
        tally.emitted = count;
        isWhole = closed !== undefined && lastBeat - schema.disorderNs > closed;
        observer?.emitted?.(count);
      },
      window: (at, open) => {
        if (at > latest) latest = at;
        opened ||= open;
        if (open) this.#start = Math.min(this.#start, at);
        else closed = at;
        observer?.window?.(at, open);
        mark(at, "window", `${schema.stream}: all probes ${open ? "count from here" : "stopped counting"}`, { open });
      },
      lost: (count) => {
        tally.reported += count;
        unmarked += count;
      },
      undecodable,
    }, this.#spare);
    const splitter = new LineSplitter();
    return {
      write: (bytes) => splitter.push(bytes, parser.lines),
      close: () => {
        const rest = splitter.rest();
        // Its writer was killed: what is left of the line may be a shorter number than it was.
        if (rest !== "" && !(isWhole && rest.startsWith("@"))) undecodable(rest);
        const unexplained = tally.emitted - tally.discarded - tally.received - tally.reported + unmarked;
        if (unexplained > 0) mark(closed ?? latest, "lost", `${schema.stream}: emitted in the kernel and never delivered`, { count: unexplained });
        if (opened && closed === undefined) {
          mark(latest, "note", `${schema.stream}: cut off ${this.since(latest)}: what it would have told later is missing`);
          mark(latest, "window", `${schema.stream}: nothing is known from here on`, { open: false });
        }
        if (late > 0) mark(closed ?? latest, "note", `${schema.stream}: ${late} events came too late for their place in the order of time`);
        // llmprof talks on after the counting: what it read of the machine, what tracing cost.
        if (isHost) this.#hostEnd = latest;
        else this.#end = Math.max(this.#end, closed ?? latest);
        rows?.close();
        input.close();
      },
    };
  }

  /** The stream to read from next, so that a replay holds as little as possible. */
  slowest(): string | undefined {
    return this.#merge.slowest();
  }

  /** After every stream is closed: closes what is open. */
  finish(): void {
    if (!Number.isFinite(this.#end)) return;
    if (this.#end - this.#hostEnd > HOST_SILENCE_NS) {
      const text = `host: cut off ${this.since(this.#hostEnd)}: what llmprof did and lost after that is missing`;
      this.options.out({ type: "mark", at: Math.max(this.#hostEnd, 0), kind: "note", stream: "host", text });
    }
    this.#dispatch.end(this.#end);
  }

  /** Instead: nothing is told of what is later than every stream was read to, for some were read much further than others. */
  cutOff(): void {
    // A heartbeat counts what bpftrace had not handed on yet: what was not read is not lost.
    for (const tally of this.tallies.values()) tally.emitted = Math.min(tally.emitted, tally.discarded + tally.received + tally.reported);
    const at = this.#end = this.#merge.frontier;
    if (!Number.isFinite(at)) return;
    const mark = { type: "mark", at } as const;
    for (const stream of this.#open) this.options.out({ ...mark, kind: "window", stream, text: `${stream}: not read from here on`, open: false });
    this.options.out({ ...mark, kind: "note", stream: "host", text: `the replay was interrupted ${this.since(at)}: the recording goes on` });
    this.#dispatch.end(this.#open.size > 0 ? at : this.#shut ?? at);
  }

  /** A time as a person reads it. */
  since(at: Ns): string {
    const start = Number.isFinite(this.#start) ? this.#start : 0;
    return Number.isFinite(at) ? `${((at - start) / 1e9).toFixed(3)} s after counting began` : "at its beginning";
  }

  /** When the first window opened. */
  get start(): Ns {
    return this.#start;
  }

  get end(): Ns {
    return this.#end;
  }

  #release(item: Item): void {
    if ("type" in item) {
      if (item.type === "beat") return this.#dispatch.beat();
      if (item.type === "mark" && item.kind === "window") this.#window(item);
      return this.options.out(item);
    }
    if ("map" in item) {
      if (!this.#tree || this.#tree.acceptsRow(item, this.#maps.get(item.map))) this.#dispatch.snapshot(item);
      return;
    }
    if (item.record === "host.fact") return this.#fact(item);
    if (this.#tree && !this.#tree.accepts(item)) return;
    this.#dispatch.event(item);
    this.#spare.give(item);
  }

  #window({ stream, at, open }: Mark): void {
    this.#shut = open ? null : at;
    if (open) this.#open.add(stream);
    else this.#open.delete(stream);
  }

  #fact(event: Event): void {
    const fact = parseFact(event.values[0] as string);
    if (!fact) {
      this.tallies.get(event.stream)!.undecodable++;
      const text = "host: a fact that cannot be read";
      return this.options.out({ type: "mark", at: event.at, kind: "undecodable", stream: "host", text, count: 1 });
    }
    const discarded = fact.fact === "discarded" && this.tallies.get(fact.stream);
    if (discarded) discarded.discarded = fact.count;
    const skipped = fact.fact === "skipped" && this.tallies.get(fact.stream);
    if (skipped) skipped.skipped = fact.count;
    if ((fact.fact === "lost" || fact.fact === "skipped") && fact.count > 0) {
      const text = `${fact.stream}: ${fact.fact === "lost" ? "bpftrace's buffer was full" : "hits skipped by the kernel"}`;
      this.options.out({ type: "mark", at: event.at, kind: "lost", stream: fact.stream, text, count: fact.count });
    }
    if (fact.fact === "ended") {
      // Where windows were shut before, what is open was seen until then.
      this.#dispatch.end(this.#shut ?? event.at);
      this.options.out({ type: "mark", at: event.at, kind: "ended", stream: "host", text: `watching of process ${fact.pid} ended` });
    }
    if (fact.fact === "code") this.code.set(`${fact.pid} ${fact.of}`, fact);
    if (fact.fact === "note") this.options.out({ type: "mark", at: event.at, kind: "note", stream: "host", text: fact.text });
    this.options.onFact?.(fact, event.at);
    this.#dispatch.fact(fact, event.at);
  }
}
