import type { GpuDirection, GraphWork, Moved } from "../../lib/events/gpu.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Stream } from "./streams.ts";

interface Collective {
  readonly name: string;
  readonly bytes: number;
  readonly began: Ns;
}

/** What is recorded, while it is. */
class Recorded implements GraphWork {
  /** Not, where it runs a graph of which nobody knows what that does. */
  isKnown = true;
  readonly kernels = new Map<string, number>();
  readonly copies = new Map<GpuDirection, Moved>();
  readonly collectives = new Map<string, Moved>();
  /** By thread: its last collective call, which the next one to be told of may have made. */
  readonly #last = new Map<number, Collective>();

  kernel(name: string, times = 1): void {
    this.kernels.set(name, (this.kernels.get(name) ?? 0) + times);
  }

  copy(direction: GpuDirection, bytes: number): void {
    add(this.copies, direction, { times: 1, bytes });
  }

  /** Of one that makes another (ncclBcast: ncclBroadcast), which is told before, the outer one is recorded. */
  collective(call: Collective, tid: number): void {
    const last = this.#last.get(tid);
    if (last && last.began < call.began) this.#add(last);
    this.#last.set(tid, call);
  }

  /** Another one, as a part of this. */
  graph(work: GraphWork | undefined): void {
    this.isKnown &&= work !== undefined;
    for (const [name, times] of work?.kernels ?? []) this.kernel(name, times);
    for (const [direction, moved] of work?.copies ?? []) add(this.copies, direction, moved);
    for (const [name, moved] of work?.collectives ?? []) add(this.collectives, name, moved);
  }

  /** Nothing more is. */
  end(): void {
    for (const last of this.#last.values()) this.#add(last);
    this.#last.clear();
  }

  #add({ name, bytes }: Collective): void {
    add(this.collectives, name, { times: 1, bytes });
  }
}

function add<Key>(to: Map<Key, Moved>, key: Key, { times, bytes }: Moved): void {
  const sum = to.get(key) ?? { times: 0, bytes: 0 };
  to.set(key, { times: sum.times + times, bytes: sum.bytes + bytes });
}

/**
 * What graphs do that are made by recording a stream. The runtime's functions call the driver's, with the same handles: what is recorded is told by the
 * driver's, and how a graph is made by both. A stream that waits for an event of one that is recorded is recorded with it. Of graphs that are put together
 * node by node nothing is known.
 */
export class Graphs {
  /** By process and handle: of a stream, a graph, and one that can be launched. */
  readonly #recording = new Map<string, Recorded>();
  /** By process and event that a stream which is recorded has recorded. */
  readonly #joining = new Map<string, Recorded>();
  readonly #made = new Map<string, Recorded>();
  readonly #launchable = new Map<string, Recorded>();
  readonly #all = [this.#recording, this.#joining, this.#made, this.#launchable];

  /** Of no process is anything recorded. */
  get none(): boolean {
    return this.#recording.size === 0;
  }

  begin(pid: number, stream: Stream): void {
    const key = `${pid} ${stream}`;
    if (!this.#recording.has(key)) this.#recording.set(key, new Recorded());
  }

  /** What is asked of this stream is recorded there. */
  of(pid: number, stream: Stream | undefined): Recorded | undefined {
    return this.#recording.get(`${pid} ${stream}`);
  }

  /** An event stands for what a stream was asked so far. */
  marked(pid: number, event: number, stream: Stream): void {
    const recorded = this.of(pid, stream), key = `${pid} ${event}`;
    if (recorded) this.#joining.set(key, recorded);
    else this.#joining.delete(key);
  }

  /** A stream waits for an event. */
  waits(pid: number, stream: Stream, event: number): void {
    const recorded = this.#joining.get(`${pid} ${event}`);
    if (recorded) this.#recording.set(`${pid} ${stream}`, recorded);
  }

  /** `graph`: 0 where it failed. */
  end(pid: number, stream: Stream, graph: number): void {
    const recorded = this.of(pid, stream);
    if (!recorded) return;
    recorded.end();
    for (const map of [this.#recording, this.#joining]) {
      for (const [key, other] of map) if (other === recorded) map.delete(key);
    }
    if (recorded.isKnown && graph !== 0) this.#made.set(`${pid} ${graph}`, recorded);
    else this.destroy(pid, graph);
  }

  /** A graph is made that does nothing yet, or what another one does. */
  make(pid: number, graph: number, original?: number): void {
    this.destroy(pid, graph);
    const made = original === undefined ? undefined : this.#made.get(`${pid} ${original}`);
    if (made) this.#made.set(`${pid} ${graph}`, made);
  }

  /** Another one may be given its handle. */
  destroy(pid: number, graph: number): void {
    this.#made.delete(`${pid} ${graph}`);
  }

  /** One can be launched that does what a graph does, now or instead of what it did. */
  instantiate(pid: number, launchable: number, graph: number): void {
    const made = this.#made.get(`${pid} ${graph}`);
    if (made) this.#launchable.set(`${pid} ${launchable}`, made);
    else this.#launchable.delete(`${pid} ${launchable}`);
  }

  /** Undefined where nobody saw how it was made. */
  launched(pid: number, launchable: number): GraphWork | undefined {
    return this.#launchable.get(`${pid} ${launchable}`);
  }

  /** What is recorded and made from now on is not seen: a handle may come to mean another graph, or the same one something else. */
  interrupt(): void {
    for (const map of this.#all) map.clear();
  }

  forget(pid: number): void {
    for (const map of this.#all) {
      for (const key of map.keys()) if (key.startsWith(`${pid} `)) map.delete(key);
    }
  }
}
