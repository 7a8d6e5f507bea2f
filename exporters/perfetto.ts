import type { ByteSink, Exporter, OpenExporter, TraceHead } from "../lib/events/exporter.ts";
import { beginOf, slicesOf } from "../lib/events/chain.ts";
import type { Args, Chain, Mark, Span, Track } from "../lib/events/span.ts";
import type { Ns } from "../lib/events/time.ts";
import { type Arrows, type DrawnSlice, GraphArrows } from "./graph/arrows.ts";
import { Nesting } from "./nesting.ts";
import { writeClocks } from "./perfetto/clocks.ts";
import { BuiltinClock, DebugAnnotation, Trace, TracePacket, TrackEvent, TrackEventType } from "./perfetto/fields.ts";
import { type Freezing, Interning } from "./perfetto/interning.ts";
import { packing } from "./perfetto/packed.ts";
import { type KnownSlice, KnownSlices } from "./perfetto/known.ts";
import { beginRow, Lane, type Row } from "./perfetto/rows.ts";
import { TrackDescriptors } from "./perfetto/tracks.ts";
import { ProtoWriter } from "./perfetto/writer.ts";

/** Of all that is on no lane. Descriptors have the second one. */
const sequence = 1;
const FIRST_ROW = 3;

/**
 * Perfetto's own format (`.pftrace`). Times are absolute CLOCK_BOOTTIME, the clock of bpftrace and the default of Perfetto, so a trace that
 * another tool took of the same boot fits beside it; a clock snapshot ties it to real time. Views are not written.
 */
export const openPerfetto: OpenExporter = (sink, head) => new PerfettoExporter(packing(sink), head);

class PerfettoExporter implements Exporter {
  readonly #out: ProtoWriter;
  readonly #freezing: Freezing = { frozen: false };
  readonly #interning: Interning;
  readonly #lanes = new Map<Track, Lane>();
  #rows = 0;
  readonly #tracks: TrackDescriptors;
  readonly #nesting = new Nesting<DrawnSlice>((slice, track) => this.#slice(slice, track));
  readonly #arrows = new GraphArrows();
  /** `clock.base` is `#high * 2^28 + #low`: times are added to the halves, exactly, without a BigInt per event. */
  readonly #high: number;
  readonly #low: number;
  readonly #known = new KnownSlices();
  /** By track that is no lane: the packet that ends a slice, before its time. */
  readonly #ends = new Map<Track, Uint8Array>();
  /** Where the packet that was begun last begins. */
  #body = 0;
  #headWritten = false;

  constructor(private readonly sink: ByteSink, private readonly head: TraceHead) {
    this.#out = new ProtoWriter(sink);
    this.#interning = new Interning(this.#out, this.#freezing);
    this.#tracks = new TrackDescriptors(this.#out);
    this.#high = Number(head.clock.base >> 28n);
    this.#low = Number(head.clock.base & 0xfffffffn);
    writeClocks(this.#out, sequence, head.clock);
  }

  span(span: Span): void {
    this.#tell(span);
    if (this.#out.isFull) this.flush();
  }

  #tell(span: Span): void {
    if (!this.#headWritten) this.#writeHead(beginOf(span));
    switch (span.type) {
      case "slice":
        // The track is described when it is first heard of, not when its first slice is let go: a tail must not be the first to mention it.
        return this.#knownTrack(this.#nesting.add(this.#arrows.of(span)), span.start);
      case "chain":
        return this.#chain(span);
      case "instant":
        return this.#instant(span.at, this.#tracks.uuid(span.track), span.category, span.name, span.args);
      case "counter":
        return this.#counter(span.at, this.#tracks.uuid(span.track), span.value);
      case "name":
        return this.#tracks.rename(span.track, span.name);
      case "mark":
        return this.#mark(span);
    }
  }

  flush(): void {
    this.#out.tail(() => {
      this.#freezing.frozen = true;
      this.#nesting.show();
      this.#freezing.frozen = false;
    });
  }

  close(): void {
    if (!this.#headWritten) this.#writeHead(0);
    this.#nesting.flush();
    this.#out.spill(1);
    this.sink.close();
  }

  /** Describes the track where it is new, and begins the row of a lane. */
  #knownTrack(track: Track, at: Ns): void {
    if (this.#lanes.has(track)) return;
    const uuid = this.#tracks.uuid(track);
    if (track.kind !== "lane") return;
    const begin = (at: Ns) => {
      const row = { sequence: FIRST_ROW + this.#rows++, uuid, at: Math.round(at) };
      return beginRow(this.#out, this.#freezing, row, (field, at) => this.#time(field, at));
    };
    this.#lanes.set(track, new Lane(begin, at));
  }

  /** Nothing encloses its slices, and what waits on their row has ended before: they go straight into the file, unless arrows are still to be drawn. */
  #chain(chain: Chain): void {
    const { track, category, links, times } = chain;
    if (!this.#arrows.passes(chain)) {
      for (const slice of slicesOf(chain)) this.span(slice);
      return;
    }
    this.#nesting.release(track);
    this.#knownTrack(track, times[0]!);
    const lane = this.#lanes.get(track), last = times[links.length]!;
    for (let i = 0; i < links.length; i++) {
      const link = links[i]!, start = times[i]!;
      const known = this.#known.get(link, category, track);
      if (lane) this.#turnTo(known, lane, i === 0 ? lane.last : times[i - 1]!, start);
      // On the row of the next one, which begins at this time.
      if (i > 0) this.#sliceEnd(start, track, lane?.row);
      if (!this.#repeats(known, start, lane?.row)) {
        this.#sliceBegin({ type: "slice", track, category, start, end: times[i + 1]!, ...link }, track, lane?.row);
      }
    }
    this.#sliceEnd(last, track, lane?.row);
    if (lane) lane.last = Math.max(lane.last, last);
  }

  /** The lane goes on where this slice is told each time, unless the packet before, at `before`, has the same time. */
  #turnTo(known: KnownSlice | undefined, lane: Lane, before: Ns, start: Ns): void {
    if (known && Math.round(start) > Math.round(before)) lane.row = known.row ?? lane.place(start);
  }

  #slice(slice: DrawnSlice, track: Track): void {
    const lane = this.#lanes.get(track);
    this.#sliceBegin(slice, track, lane?.row);
    this.#sliceEnd(slice.end, track, lane?.row);
    if (lane && !this.#freezing.frozen) lane.last = Math.max(lane.last, slice.end);
  }

  #sliceBegin(slice: DrawnSlice, track: Track, row: Row | undefined): void {
    const { name, category, start, open, arrows, block } = slice;
    // With arrows it is like no other, and so are one that never ended and a request to a disk.
    const isLikeOthers = !open && !arrows && !block;
    const known = isLikeOthers ? this.#known.get(slice, category, track) : undefined;
    if (this.#repeats(known, start, row)) return;
    const args = open ? { ...slice.args, open: true } : slice.args;
    const again = isLikeOthers ? args : undefined;
    const uuid = row ? undefined : this.#tracks.uuid(track);
    const packet = this.#begin(row);
    this.#event(TrackEventType.sliceBegin, uuid, category, name, args, row, arrows);
    const beginBody = known && this.#out.since(this.#body);
    (row?.interning ?? this.#interning).writeFresh(TracePacket.internedData);
    this.#end(packet, start, row);
    // Most arguments come once, and only what comes a second time is kept: that comes again and again. What a tail writes is never read again.
    if (!again || known?.begin || this.#freezing.frozen) return;
    if (row && beginBody) row.members++;
    this.#known.set(again, { name, category, track, begin: beginBody, row: beginBody && row });
  }

  /** Writes the begin of a slice that differs from an earlier one in nothing but its times, and says whether it does. */
  #repeats(known: KnownSlice | undefined, start: Ns, row: Row | undefined): boolean {
    if (!known?.begin || known.row !== row) return false;
    this.#again(start, known.begin, row);
    return true;
  }

  #sliceEnd(at: Ns, track: Track, row: Row | undefined): void {
    const known = row ? row.end : this.#ends.get(track);
    if (known) return this.#again(at, known, row);
    const packet = this.#begin(row);
    const event = this.#out.begin(TracePacket.trackEvent);
    this.#out.uint(TrackEvent.type, TrackEventType.sliceEnd);
    if (!row) this.#out.uint(TrackEvent.trackUuid, this.#tracks.uuid(track));
    this.#out.end(event);
    const body = this.#out.since(this.#body);
    if (row) row.end = body;
    else this.#ends.set(track, body);
    this.#end(packet, at, row);
  }

  /** A packet that differs from an earlier one in nothing but its time. */
  #again(at: Ns, body: Uint8Array, row: Row | undefined): void {
    const since = this.#sinceLast(at, row);
    if (since >= 0) {
      this.#out.again(Trace.packet, body, TracePacket.timestamp, since);
      return this.#out.spill();
    }
    const packet = this.#out.begin(Trace.packet);
    this.#out.encoded(body);
    this.#timed(packet, at, since, row);
  }

  #mark({ at, kind, stream, text, count }: Mark): void {
    const args: Args = count === undefined ? { stream } : { stream, count };
    this.#instant(at, this.#tracks.run(), `llmprof.${kind}`, text, args);
  }

  /** What the trace says about its run, as an instant where the trace begins. */
  #writeHead(at: Ns): void {
    this.#headWritten = true;
    const { llmprof, command, clock, facts } = this.head;
    const args = { ...facts, llmprof, command, clockBase: String(clock.base), realtimeOffset: String(clock.realtimeOffset) };
    this.#instant(at, this.#tracks.run(), "llmprof.run", `llmprof ${command}`, args);
  }

  #instant(at: Ns, uuid: number, category: string, name: string, args: Args | undefined): void {
    const packet = this.#begin();
    this.#event(TrackEventType.instant, uuid, category, name, args);
    this.#interning.writeFresh(TracePacket.internedData);
    this.#end(packet, at);
  }

  #event(type: number, uuid: number | undefined, category: string, name: string, args: Args | undefined, row?: Row, arrows?: Arrows): void {
    const interning = row?.interning ?? this.#interning;
    const event = this.#out.begin(TracePacket.trackEvent);
    this.#out.uint(TrackEvent.type, type);
    if (uuid !== undefined) this.#out.uint(TrackEvent.trackUuid, uuid);
    interning.write("categories", category, TrackEvent.categoryIids, TrackEvent.categories);
    interning.write("eventNames", name, TrackEvent.nameIid, TrackEvent.name);
    for (const key in args) this.#annotation(key, args[key]!, interning);
    if (arrows) {
      for (const arrow of arrows.begin) this.#out.fixed(TrackEvent.flowIds, arrow);
      for (const arrow of arrows.end) this.#out.fixed(TrackEvent.terminatingFlowIds, arrow);
    }
    this.#out.end(event);
  }

  #annotation(key: string, value: string | number | boolean, interning: Interning): void {
    const name = interning.number("annotationNames", key);
    if (name !== undefined) {
      if (typeof value === "string") {
        const text = interning.number("annotationStrings", value);
        if (text !== undefined) return this.#out.pair(TrackEvent.debugAnnotations, DebugAnnotation.nameIid, name, DebugAnnotation.stringIid, text);
      } else if (Number.isSafeInteger(value) && (value as number) >= 0) {
        return this.#out.pair(TrackEvent.debugAnnotations, DebugAnnotation.nameIid, name, DebugAnnotation.int, value as number);
      }
    }
    const annotation = this.#out.begin(TrackEvent.debugAnnotations);
    interning.write("annotationNames", key, DebugAnnotation.nameIid, DebugAnnotation.name);
    if (typeof value === "string") interning.write("annotationStrings", value, DebugAnnotation.stringIid, DebugAnnotation.string);
    else if (typeof value === "boolean") this.#out.uint(DebugAnnotation.bool, value ? 1 : 0);
    else if (Number.isSafeInteger(value)) this.#out.int(DebugAnnotation.int, value);
    else this.#out.double(DebugAnnotation.double, value);
    this.#out.end(annotation);
  }

  #counter(at: Ns, uuid: number, value: number): void {
    const packet = this.#begin();
    const event = this.#out.begin(TracePacket.trackEvent);
    this.#out.uint(TrackEvent.type, TrackEventType.counter);
    this.#out.uint(TrackEvent.trackUuid, uuid);
    if (Number.isSafeInteger(value)) this.#out.int(TrackEvent.counterValue, value);
    else this.#out.double(TrackEvent.doubleCounterValue, value);
    this.#out.end(event);
    this.#end(packet, at);
  }

  #begin(row?: Row): number {
    const packet = this.#out.begin(Trace.packet);
    this.#body = this.#out.position;
    this.#out.uint(TracePacket.sequenceId, row?.sequence ?? sequence);
    return packet;
  }

  /** Ends a packet with its time, the only thing in which two of an operator's slices differ: what deflate finds again is in one piece before it. */
  #end(packet: number, at: Ns, row?: Row): void {
    this.#timed(packet, at, this.#sinceLast(at, row), row);
  }

  /** By the clock of its row, unless that is past it or what is written now will be taken back. */
  #timed(packet: number, at: Ns, since: number, row: Row | undefined): void {
    if (since >= 0) this.#out.uint(TracePacket.timestamp, since);
    else {
      this.#time(TracePacket.timestamp, Math.round(at));
      if (row) this.#out.uint(TracePacket.timestampClock, BuiltinClock.boottime);
    }
    this.#out.end(packet);
    this.#out.spill();
  }

  /** A time by the clock of its row, which goes on to it; -1 where that cannot tell it. */
  #sinceLast(at: Ns, row: Row | undefined): number {
    if (!row || this.#freezing.frozen) return -1;
    const whole = Math.round(at);
    const since = whole - row.last;
    if (since >= 0) row.last = whole;
    return since;
  }

  /** Writes a time as nanoseconds since boot. */
  #time(field: number, at: Ns): void {
    const sum = this.#low + at;
    const carry = Math.floor(sum / 0x10000000);
    this.#out.wide(field, this.#high + carry, sum - carry * 0x10000000);
  }
}
