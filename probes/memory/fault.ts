import type { Decoder, Event, Snapshot } from "../../lib/events/event.ts";
import type { Fact, StoredTensor } from "../../lib/events/fact.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { StreamTotals } from "../../lib/timeline/stream_totals.ts";
import { callInProgress, withRegisters } from "../process/call_in_progress.ts";
import { argsOf, type MappedFile, type Mapping, offsetAt } from "./address_space.ts";
import { AddressSpaces, MAPPING_RECORDS } from "./address_spaces.ts";
import template from "./fault.bt" with { type: "text" };
import { FaultsByTensor } from "./tensor_faults.ts";

/** Page faults: exact totals, which mapping was touched when, and which tensors of a model. */
export const fault: Probe = {
  name: "memory/fault",
  summary: "page faults: exact count, which mapping and which tensor is touched, and how long the disk was waited for",
  template: withRegisters(template),
  params: callInProgress,
  fuller: {
    tracepoint: "exceptions:page_fault_user",
    summary: "page faults by thread, file and tensor, and which of them waited for the disk",
  },
  hot: true,
  widest: 5,
  records: {
    run: [
      { name: "since", type: "time" },
      { name: "until", type: "time" },
      { name: "last", type: "int", unit: "address" },
      { name: "step", type: "int", unit: "bytes" },
      { name: "count", type: "int", unit: "faults" },
    ],
    // A major one, of those that a run tells of.
    major: [{ name: "began", type: "time" }, { name: "address", type: "int", unit: "address" }],
  },
  maps: { faults: { key: ["pid"], unit: "faults" } },
  sees: MAPPING_RECORDS,
  facts: ["mapped", "tensors"],
  decoder: (tracks) => new FaultDecoder(tracks),
};

/** Of a thread. */
interface Sums {
  faults: number;
  major: number;
  majorNs: number;
}

/** Faults closer than this in one mapping are one touch; the program sends at least one record per millisecond. */
const GAP_NS = 5e6;

interface Touch extends Sums {
  start: Ns;
  end: Ns;
  readonly pid: number;
  readonly mapping: Mapping;
}

class FaultDecoder implements Decoder {
  readonly #spaces = new AddressSpaces();
  readonly #totals = new StreamTotals();
  /** By thread. */
  readonly #touches = new Map<number, Touch>();
  /** By process and thread. */
  readonly #sums = new Map<number, Map<number, Sums>>();
  /** By thread: when its last touch was over. */
  readonly #over = new Map<number, Ns>();
  /** Of files that hold a model, by their id. */
  readonly #tensors = new Map<string, readonly StoredTensor[]>();
  /** By process and file. */
  readonly #byTensor = new Map<string, { readonly pid: number; readonly file: MappedFile; readonly faults: FaultsByTensor }>();

  constructor(readonly tracks: Tracks) {}

  event(event: Event, out: SpanSink): void {
    const { record, at, pid, tid, values } = event;
    switch (record) {
      case "memory/fault.run":
        return this.#run(pid, tid, values as number[], out);
      case "memory/fault.major": {
        const [began, address] = values as [Ns, number];
        const sums = this.#sumsOf(pid, tid);
        sums.major++;
        sums.majorNs += at - began;
        const { mapping } = this.#spaces.of(pid).at(address, began);
        if (!mapping) return;
        this.#touch(pid, tid, mapping, { start: began, end: at, faults: 0, major: 1, majorNs: at - began }, out);
        return this.#faultsIn(pid, mapping)?.major(offsetAt(mapping, address), at - began);
      }
      default:
        return this.#spaces.event(event);
    }
  }

  fact(fact: Fact): void {
    this.#spaces.fact(fact);
    if (fact.fact === "tensors") {
      const id = `${fact.dev}:${fact.inode}`;
      this.#tensors.set(id, fact.tensors);
      for (const { file, faults } of this.#byTensor.values()) if (file.id === id) faults.knows(fact.tensors);
    }
  }

  snapshot(snapshot: Snapshot, out: SpanSink): void {
    const [pid] = snapshot.key as [number];
    out({ type: "counter", track: this.tracks.counter(pid, "page faults", "faults"), at: snapshot.at, value: this.#totals.add(snapshot) });
  }

  end(at: Ns, out: SpanSink): void {
    for (const tid of [...this.#touches.keys()]) this.#emit(tid, out);
    for (const { pid, file, faults } of this.#byTensor.values()) {
      const touched = faults.take();
      if (touched.length === 0) continue;
      const track = this.tracks.lane(pid, "page faults by tensor", 2);
      const args = { ...argsOf(file), tensors: touched.length };
      out({ type: "instant", track, name: file.name, category: "memory.tensors", at, args, touched });
    }
    for (const [pid, threads] of this.#sums) {
      const faulted = [...threads].map(([tid, sums]) => ({ tid, ...sums }));
      out({
        type: "instant",
        track: this.tracks.process(pid),
        name: "page faults",
        category: "memory.threads",
        at,
        args: { threads: faulted.length },
        faulted,
      });
    }
    this.#sums.clear();
  }

  #run(pid: number, tid: number, values: readonly number[], out: SpanSink): void {
    const [start, end, last, step, all] = values as [Ns, Ns, number, number, number];
    let address = last - step * (all - 1);
    // A recording is anybody's: no program sends one that goes backwards, or where no process has addresses, and none is walked through for ever.
    if (!(all >= 1 && step >= 0 && address >= 0 && last <= Number.MAX_SAFE_INTEGER)) return;
    this.#sumsOf(pid, tid).faults += all;
    for (let left = all; left > 0;) {
      // It is told with the thread's next one, before which what it touched may be gone.
      const { mapping, to } = this.#spaces.of(pid).at(address, end);
      const count = step === 0 ? left : Math.min(left, Math.ceil((to - address) / step));
      // Faults outside of the mappings that were seen (stack, heap, small ones) are counted and not drawn.
      if (mapping) {
        this.#touch(pid, tid, mapping, { start, end, faults: count, major: 0, majorNs: 0 }, out);
        this.#faultsIn(pid, mapping)?.run(offsetAt(mapping, address), step, count);
      }
      left -= count;
      address += count * step;
    }
  }

  #touch(pid: number, tid: number, mapping: Mapping, more: Omit<Touch, "pid" | "mapping">, out: SpanSink): void {
    const touch = this.#touches.get(tid);
    if (touch && touch.mapping === mapping && more.start - touch.end <= GAP_NS) {
      // A major fault is told before the run that it is one of.
      touch.start = Math.max(Math.min(touch.start, more.start), this.#over.get(tid) ?? 0);
      touch.end = Math.max(touch.end, more.end);
      touch.faults += more.faults;
      touch.major += more.major;
      touch.majorNs += more.majorNs;
      return;
    }
    this.#emit(tid, out);
    const start = Math.max(more.start, this.#over.get(tid) ?? 0);
    this.#touches.set(tid, { ...more, pid, mapping, start, end: Math.max(start, more.end) });
  }

  #emit(tid: number, out: SpanSink): void {
    const touch = this.#touches.get(tid);
    if (!touch) return;
    this.#touches.delete(tid);
    this.#over.set(tid, touch.end);
    const { pid, start, end, mapping: { file }, faults, major, majorNs } = touch;
    out({
      type: "slice",
      track: this.tracks.lane(pid, `page faults ${tid}`, 2),
      name: file ? `fault in ${file.name}` : "fault in memory",
      category: "memory.touch",
      start,
      end,
      args: { ...(file && argsOf(file)), ...(file && this.#spaces.isCode(file.id) && { code: true }), faults, ...(major > 0 && { major, majorNs }) },
    });
  }

  #faultsIn(pid: number, { file }: Mapping): FaultsByTensor | undefined {
    if (!file) return undefined;
    const key = `${pid} ${file.id}`;
    let known = this.#byTensor.get(key);
    if (!known) {
      this.#byTensor.set(key, known = { pid, file, faults: new FaultsByTensor() });
      const tensors = this.#tensors.get(file.id);
      if (tensors) known.faults.knows(tensors);
    }
    return known.faults;
  }

  #sumsOf(pid: number, tid: number): Sums {
    let threads = this.#sums.get(pid);
    if (!threads) this.#sums.set(pid, threads = new Map());
    let sums = threads.get(tid);
    if (!sums) threads.set(tid, sums = { faults: 0, major: 0, majorNs: 0 });
    return sums;
  }
}
