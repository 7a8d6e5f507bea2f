import type { Decoder, Event, Snapshot } from "../../lib/events/event.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import template from "./fault.bt" with { type: "text" };

/** Page faults: exact totals, and when which mapping was touched. */
export const fault: Probe = {
  name: "memory/fault",
  summary: "page faults: exact count, and which mapping is touched when",
  template,
  tracepoints: ["exceptions:page_fault_user"],
  records: { fault: [{ name: "address", type: "int", unit: "address" }, { name: "count", type: "int", unit: "faults since the last record" }] },
  maps: { faults: "faults" },
  sees: ["files/access.map", "files/access.anonymous"],
  decoder: (tracks) => new FaultDecoder(tracks),
};

/** Faults closer than this in one mapping are one touch; the program sends at most one record per millisecond. */
const GAP_NS = 5e6;

interface Touch {
  readonly start: Ns;
  end: Ns;
  faults: number;
  readonly pid: number;
  readonly mapping: Mapping | undefined;
}

interface Mapping {
  readonly from: number;
  readonly to: number;
  readonly file: string | undefined;
}

class FaultDecoder implements Decoder {
  /** By process; the newest first, since a new mapping may cover an old one. */
  readonly #mappings = new Map<number, Mapping[]>();
  readonly #touches = new Map<number, Touch>();

  constructor(readonly tracks: Tracks) {}

  event(event: Event, out: SpanSink): void {
    switch (event.record) {
      case "files/access.map": {
        const [, from, length, , , , file] = event.values as [Ns, number, number, number, number, number, string];
        return this.#map(event.pid, { from, to: from + length, file });
      }
      case "files/access.anonymous": {
        const [, from, length] = event.values as [Ns, number, number];
        return this.#map(event.pid, { from, to: from + length, file: undefined });
      }
    }
    const [address, count] = event.values as [number, number];
    const mapping = this.#mappings.get(event.pid)?.find((m) => address >= m.from && address < m.to);
    const touch = this.#touches.get(event.tid);
    if (touch && touch.mapping === mapping && event.at - touch.end <= GAP_NS) {
      touch.end = event.at;
      touch.faults += count;
      return;
    }
    this.#emit(event.tid, out);
    this.#touches.set(event.tid, { start: event.at, end: event.at, faults: count, pid: event.pid, mapping });
  }

  snapshot(snapshot: Snapshot, out: SpanSink): void {
    const [pid] = snapshot.key;
    if (pid !== undefined) out({ type: "counter", track: this.tracks.counter(pid, "page faults", "faults"), at: snapshot.at, value: snapshot.value });
  }

  end(_at: Ns, out: SpanSink): void {
    for (const tid of [...this.#touches.keys()]) this.#emit(tid, out);
  }

  #map(pid: number, mapping: Mapping): void {
    const mappings = this.#mappings.get(pid);
    if (mappings) mappings.unshift(mapping);
    else this.#mappings.set(pid, [mapping]);
  }

  /** Faults outside of the mappings that were seen (stack, heap, small ones) are counted and not drawn. */
  #emit(tid: number, out: SpanSink): void {
    const touch = this.#touches.get(tid);
    this.#touches.delete(tid);
    if (!touch?.mapping) return;
    const file = touch.mapping.file;
    out({
      type: "slice",
      track: this.tracks.lane(touch.pid, `page faults ${tid}`, 2),
      name: file ? `fault in ${file}` : "fault in memory",
      category: "memory.touch",
      start: touch.start,
      end: touch.end,
      args: { ...(file !== undefined && { file }), faults: touch.faults },
    });
  }
}
