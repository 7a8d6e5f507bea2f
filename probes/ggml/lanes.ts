import type { Event } from "../../lib/events/event.ts";
import type { Args, Link, SpanSink, Track } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import { followedBy, fusedBetween, linkOf, type Tensor } from "./tensor.ts";

/** More than a pool has (GGML_MAX_N_THREADS). A pool lies at a multiple of 16, so 32 times its address, in one number with the index, leaves room for both. */
const WORKERS = 512;

/** What has ended is told together: so many operators at most, and none that ended longer ago than this when the next one begins. */
const LONGEST_CHAIN = 256, LATEST_NS = 20e6;

interface Worker {
  readonly graph: Graph;
  readonly index: number;
  /** Its thread while the graph is computed. */
  tid: number;
  readonly track: Track;
  /** What its slices say where the tensor is not known: one object, which exporters encode once. */
  readonly unknown: Link & { readonly args: Args };
  /** Operators that have ended and are not told yet. */
  links: Link[];
  /** When these began, and behind them when the current one did; empty before the first. */
  times: Ns[];
  /** Address of the tensor that the current operator computes. */
  address: number;
  /** How often it has come to a barrier in that operator. */
  barriers: number;
}

/** A worker that has come to a barrier. */
interface Arrival {
  readonly worker: Worker;
  readonly at: Ns;
}

/** What an address of a process stands for now. */
export type FindTensor = (pid: number, address: number) => Tensor | undefined;

interface Graph {
  readonly pid: number;
  /** Which of the graphs that the process computes at once; decides the rows. */
  readonly slot: number;
  /** ggml's thread pool, known from the first operator. */
  pool: number | undefined;
  /** How many workers it was given; undefined where it began before the window. */
  readonly threads: number | undefined;
  readonly workers: Map<number, Worker>;
  /** It was seen from its beginning. */
  readonly isWhole: boolean;
  /** What is fused in it is looked at, from its first operator on. */
  learns: boolean;
  /** Addresses of what was found to be. */
  readonly fused: Set<number>;
  /** Who has come to each barrier that not all have come to: those of an operator in turn, by its address. */
  readonly barriers: Map<number, Arrival[][]>;
}

/**
 * Rows of operators. A worker is known by its index in the graph's pool and not by its thread, since an engine may start new threads for every
 * graph; several graphs at once get rows of their own. An operator lasts until its worker starts the next one (the wait for the other
 * workers included) and the last one until the graph ends.
 */
export class OpLanes {
  /** By the thread that asked for the graph, its worker 0. */
  readonly #graphs = new Map<number, Graph>();
  /** Threads that have told of a tensor since their last graph began. */
  readonly #learning = new Set<number>();
  /** By thread: who computes there now. */
  readonly #workers = new Map<number, Worker>();

  constructor(readonly tracks: Tracks, readonly find: FindTensor) {}

  graphBegins(event: Event, out: SpanSink): void {
    // Still open: its end was lost.
    const before = this.#graphs.get(event.tid);
    if (before) this.#close(event.tid, before, event.at, true, out);
    this.#begin(event);
  }

  graphEnds(event: Event, out: SpanSink): void {
    const graph = this.#graphs.get(event.tid);
    if (graph) this.#close(event.tid, graph, event.at, false, out);
  }

  /** The thread of the event is this worker until its graph ends. `id`: see {@link WORKERS}. */
  worker(event: Event, id: number): void {
    const index = id % WORKERS;
    const pool = id - index;
    const graph = this.#graphOf(event, index, pool);
    graph.pool ??= pool;
    let worker = graph.workers.get(index);
    if (!worker) {
      const row = graph.slot === 0 ? `worker ${index}` : `worker ${index} of graph ${graph.slot + 1}`;
      const track = this.tracks.lane(event.pid, row, 10 + graph.slot * 1000 + index);
      const unknown = { name: "unknown operator", args: { worker: index } };
      graph.workers.set(index, worker = { graph, index, tid: event.tid, track, unknown, links: [], times: [], address: 0, barriers: 0 });
    }
    worker.tid = event.tid;
    this.#workers.set(event.tid, worker);
  }

  op(event: Event, address: number, out: SpanSink): void {
    const worker = this.#workers.get(event.tid);
    // What told who it is was lost, and is told of as a loss.
    if (!worker) return;
    if (worker.index === 0 && worker.graph.learns) this.#learn(worker.graph, address, worker.address);
    const { links, times } = worker;
    if (times.length > 0) links.push(this.#link(worker));
    times.push(event.at);
    worker.address = address;
    worker.barriers = 0;
    if (links.length === LONGEST_CHAIN || event.at - times[0]! > LATEST_NS) tell(worker, out);
  }

  /** Tells of all operators that have ended. */
  tell(out: SpanSink): void {
    for (const worker of this.#workers.values()) tell(worker, out);
  }

  /** What a tensor is has been told on this thread: other nodes may be fused now. */
  described({ tid }: Event): void {
    this.#learning.add(tid);
    const graph = this.#graphs.get(tid);
    if (graph?.isWhole && !hasBegun(graph)) graph.learns = true;
  }

  /** Worker 0 begins with a tensor, behind another one. */
  #learn({ pid, fused }: Graph, address: number, before: number): void {
    const tensor = this.find(pid, address);
    if (!tensor) return;
    const found = fusedBetween(before, tensor, (other, op) => {
      const known = this.find(pid, other);
      return fused.has(other) || (known !== undefined && (op === undefined || known.op === op));
    });
    if (found) fused.add(found.address);
    const last = this.find(pid, before);
    if (last) followedBy(last, found);
  }

  /**
   * Whoever is not the last to come waits for the last, and all go on then. All pass the same barriers of an operator in the same order, so nobody has to
   * be seen going on.
   */
  barrier(event: Event, out: SpanSink): void {
    const worker = this.#workers.get(event.tid);
    if (!worker || worker.times.length === 0) return;
    const { graph } = worker;
    let barriers = graph.barriers.get(worker.address);
    if (!barriers) graph.barriers.set(worker.address, barriers = []);
    const arrivals = barriers[worker.barriers++] ??= [];
    arrivals.push({ worker, at: event.at });
    if (arrivals.length === graph.threads) this.#release(arrivals, out);
  }

  /** The last to come does not wait. */
  #release(arrivals: Arrival[], out: SpanSink): void {
    const end = arrivals.at(-1)!.at;
    for (const { worker, at } of arrivals.slice(0, -1)) {
      const { track, unknown: { args } } = worker;
      tell(worker, out);
      out({ type: "slice", track, name: "wait", category: "ggml.wait", start: at, end, args });
    }
    arrivals.length = 0;
  }

  /** What the thread computes now, and its row. */
  current(tid: number): { readonly track: Track; readonly tensor: Tensor | undefined } | undefined {
    const worker = this.#workers.get(tid);
    return worker && { track: worker.track, tensor: this.find(worker.graph.pid, worker.address) };
  }

  end(at: Ns, out: SpanSink): void {
    for (const [tid, graph] of [...this.#graphs]) this.#close(tid, graph, at, true, out);
  }

  /** A worker other than 0 has a thread of its own: its graph is that of its pool, or the one that has not shown its pool yet. */
  #graphOf(event: Event, index: number, pool: number): Graph {
    // Without a beginning: the window opened in the middle of this graph.
    if (index === 0) return this.#graphs.get(event.tid) ?? this.#begin(event);
    let fallback: Graph | undefined;
    for (const graph of this.#graphs.values()) {
      if (graph.pid !== event.pid) continue;
      if (graph.pool === pool) return graph;
      if (graph.pool === undefined) fallback ??= graph;
    }
    return fallback ?? this.#begin(event);
  }

  #begin(event: Event): Graph {
    const used = new Set([...this.#graphs.values()].filter((g) => g.pid === event.pid).map((g) => g.slot));
    let slot = 0;
    while (used.has(slot)) slot++;
    const threads = event.record === "ggml/graph.graph" ? event.values[1] as number : undefined;
    const isWhole = event.record === "ggml/graph.graph" || event.record === "ggml/graph.drawn";
    const learns = isWhole && this.#learning.delete(event.tid);
    const workers = new Map(), barriers = new Map();
    const graph: Graph = { pid: event.pid, slot, pool: undefined, threads, workers, isWhole, learns, fused: new Set(), barriers };
    this.#graphs.set(event.tid, graph);
    return graph;
  }

  #close(tid: number, graph: Graph, at: Ns, open: boolean, out: SpanSink): void {
    // Fewer workers may have come than the graph was given: then these are all.
    for (const arrivals of [...graph.barriers.values()].flat()) {
      if (arrivals.length > 1 && arrivals.length === graph.workers.size) this.#release(arrivals, out);
    }
    for (const worker of graph.workers.values()) {
      this.#finish(worker, at, open, out);
      if (this.#workers.get(worker.tid) === worker) this.#workers.delete(worker.tid);
    }
    this.#graphs.delete(tid);
  }

  /** Its current operator is over, or as `open` the run is. */
  #finish(worker: Worker, at: Ns, open: boolean, out: SpanSink): void {
    const { track, links, times } = worker;
    if (times.length === 0) return;
    const start = times.at(-1)!;
    // A probe that was running on another processor as its window was shut tells of an operator that is younger than that by a microsecond.
    const end = Math.max(start, at);
    if (open) {
      tell(worker, out);
      out({ type: "slice", track, category: "ggml.op", start, end, ...this.#link(worker), open });
    } else {
      links.push(this.#link(worker));
      times.push(end);
      tell(worker, out);
    }
    worker.times = [];
  }

  /** The tensor is looked up when its operator has ended: its description comes from worker 0, perhaps after another worker has begun with it. */
  #link({ graph, address, index, unknown }: Worker): Link {
    const tensor = this.find(graph.pid, address);
    return tensor ? linkOf(tensor, index) : unknown;
  }
}

function tell(worker: Worker, out: SpanSink): void {
  const { track, tid, links, times } = worker;
  if (links.length === 0) return;
  worker.links = [];
  worker.times = [times.at(-1)!];
  if (links.length > 1) out({ type: "chain", track, category: "ggml.op", tid, links, times });
  else out({ type: "slice", track, category: "ggml.op", tid, start: times[0]!, end: times[1]!, ...links[0]! });
}

/** Worker 0 has begun an operator of it. */
function hasBegun({ workers }: Graph): boolean {
  const first = workers.get(0);
  return first !== undefined && first.times.length > 0;
}
