import type { Track } from "../../lib/events/span.ts";
import {
  ChildOrdering,
  CounterDescriptor,
  CounterUnit,
  ProcessDescriptor,
  SiblingMerge,
  ThreadDescriptor,
  Trace,
  TracePacket,
  TrackDescriptor,
} from "./fields.ts";
import type { ProtoWriter } from "./writer.ts";

/**
 * Descriptors are a sequence of packets of their own: a sequence that once described a thread belongs to that thread, and trace_processor
 * would add an argument with its number to each event that is on no thread.
 */
export const DESCRIPTORS = 2;

/** Gives each track a number of its own in the trace, and describes it before it is used. */
export class TrackDescriptors {
  readonly #uuids = new Map<Track, number>();
  readonly #processes = new Map<number, number>();
  readonly #runs = new Map<string, number>();
  readonly #groups = new Map<string, number>();
  #last = 0;

  constructor(private readonly out: ProtoWriter) {}

  uuid(track: Track): number {
    return this.#uuids.get(track) ?? this.#describe(track);
  }

  /** The row of llmprof itself, whether or not a track of it exists. */
  run(name = "llmprof"): number {
    let uuid = this.#runs.get(name);
    if (uuid === undefined) {
      this.#runs.set(name, uuid = ++this.#last);
      this.#packet(uuid, () => this.out.string(TrackDescriptor.name, name));
    }
    return uuid;
  }

  /** Describes a process or thread again, with the name that it has now. */
  rename(track: Track, name: string): void {
    if (track.kind === "process") this.#writeProcess(this.uuid(track), track.pid, name);
    else if (track.kind === "thread") this.#writeThread(this.uuid(track), track, name);
    else this.#packet(this.uuid(track), () => this.out.string(TrackDescriptor.name, name));
  }

  #describe(track: Track): number {
    const uuid = this.#first(track);
    this.#uuids.set(track, uuid);
    return uuid;
  }

  #first(track: Track): number {
    switch (track.kind) {
      case "run":
        return this.run(track.name);
      case "process":
        return this.#process(track.pid);
      case "thread": {
        this.#process(track.pid);
        const uuid = ++this.#last;
        this.#writeThread(uuid, track, track.name);
        return uuid;
      }
      case "lane":
      case "counter":
        return this.#child(track);
    }
  }

  #process(pid: number): number {
    let uuid = this.#processes.get(pid);
    if (uuid === undefined) {
      this.#processes.set(pid, uuid = ++this.#last);
      this.#writeProcess(uuid, pid, undefined);
    }
    return uuid;
  }

  /** A row inside a process; of the whole machine when the process is 0. */
  #child(track: Track): number {
    const parent = track.pid === 0 ? undefined : track.group === undefined ? this.#process(track.pid) : this.#group(track.pid, track.group);
    const uuid = ++this.#last;
    this.#packet(uuid, () => {
      this.out.string(TrackDescriptor.name, track.name);
      if (parent !== undefined) this.out.uint(TrackDescriptor.parentUuid, parent);
      if (track.rank !== undefined) this.out.int(TrackDescriptor.siblingOrderRank, track.rank);
      // Rows of one name would become one, and their slices mix.
      this.out.uint(TrackDescriptor.siblingMergeBehavior, SiblingMerge.none);
      if (track.kind === "counter") this.#counter(track.unit);
    });
    return uuid;
  }

  /** A row without content, which many of a process lie in. */
  #group(pid: number, name: string): number {
    const key = `${pid}/${name}`, parent = this.#process(pid);
    let uuid = this.#groups.get(key);
    if (uuid === undefined) {
      this.#groups.set(key, uuid = ++this.#last);
      this.#packet(uuid, () => {
        this.out.string(TrackDescriptor.name, name);
        this.out.uint(TrackDescriptor.parentUuid, parent);
      });
    }
    return uuid;
  }

  #counter(unit: string | undefined): void {
    const counter = this.out.begin(TrackDescriptor.counter);
    if (unit === "bytes") this.out.uint(CounterDescriptor.unit, CounterUnit.bytes);
    else if (unit === "ns") this.out.uint(CounterDescriptor.unit, CounterUnit.nanoseconds);
    else if (unit === "count") this.out.uint(CounterDescriptor.unit, CounterUnit.count);
    else if (unit !== undefined) this.out.string(CounterDescriptor.unitName, unit);
    this.out.end(counter);
  }

  #writeProcess(uuid: number, pid: number, name: string | undefined): void {
    this.#packet(uuid, () => {
      this.out.uint(TrackDescriptor.childOrdering, ChildOrdering.explicit);
      const process = this.out.begin(TrackDescriptor.process);
      this.out.uint(ProcessDescriptor.pid, pid);
      if (name !== undefined) this.out.string(ProcessDescriptor.name, name);
      this.out.end(process);
    });
  }

  #writeThread(uuid: number, track: Track, name: string): void {
    this.#packet(uuid, () => {
      const thread = this.out.begin(TrackDescriptor.thread);
      this.out.uint(ThreadDescriptor.pid, track.pid);
      this.out.uint(ThreadDescriptor.tid, track.tid ?? track.pid);
      this.out.string(ThreadDescriptor.name, name);
      this.out.end(thread);
    });
  }

  #packet(uuid: number, content: () => void): void {
    const packet = this.out.begin(Trace.packet);
    this.out.uint(TracePacket.sequenceId, DESCRIPTORS);
    const descriptor = this.out.begin(TracePacket.trackDescriptor);
    this.out.uint(TrackDescriptor.uuid, uuid);
    content();
    this.out.end(descriptor);
    this.out.end(packet);
  }
}
