import { type GraphRow, takeGraph } from "../events/graph_row.ts";
import type { Args, Chain, Slice, Track } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import type { OperatorTable } from "./operator_table.ts";
import type { Preempted, Preemptions } from "./preemptions.ts";
import type { StoppedTimes } from "./stopped.ts";

/** Operators of a worker, one behind the other: a chain, or a slice alone. */
export interface Operators extends Pick<Chain, "track" | "tid" | "links" | "times"> {
  readonly start: Ns;
  readonly end: Ns;
  /** The end of the one that it is was not seen. */
  readonly open: boolean;
}

/** Those of worker 0, which wait for the slice of their graph. */
export interface PendingOps extends Operators {
  /** How long the first of them waited for other workers. */
  readonly waitNs: number;
}

export function operatorsOf(span: Slice | Chain): Operators {
  if (span.type === "slice") {
    const { track, tid, start, end, open = false } = span;
    return { track, tid, links: [span], times: [start, end], start, end, open };
  }
  const { track, tid, links, times } = span;
  return { track, tid, links, times, start: times[0]!, end: times.at(-1)!, open: false };
}

/** How many operators these are. */
export function count(all: readonly PendingOps[]): number {
  return all.reduce((sum, { links }) => sum + links.length, 0);
}

interface Busy {
  calls: number;
  ns: number;
  waitNs: number;
  /** Of the time that it was busy, somebody else had its processor. */
  readonly preempted: Preempted;
}

/** A row of the trace on which one worker's operators are drawn, of one graph at a time. */
interface Lane extends GraphRow<PendingOps> {
  readonly worker: number;
  readonly busy: Busy;
  /** Operators that wait. */
  held: number;
  /** In the operator that has not come yet: waits end before it. */
  waitNs: number;
}

/** One object for all calls: nearly every operator is answered with it. */
const none: readonly PendingOps[] = [];

/** The operators of worker 0 until their graph is known, and how busy each worker is. */
export class OperatorLanes {
  readonly #lanes = new Map<Track, Lane>();
  /** Lanes of a worker 0: a process that computes several graphs at once has one for each. */
  readonly #byPid = new Map<number, Lane[]>();
  /** What workers of a process have waited behind its last graph, and since when. */
  readonly #waited = new Map<number, { readonly since: Ns; ns: number }>();
  readonly workers = new Map<number, Busy>();

  constructor(readonly table: OperatorTable, readonly stopped: StoppedTimes, readonly preemptions: Preemptions) {}

  /** Returns operators that waited too long, if any: a graph has some thousands, so with more than `max` of them none is coming. */
  add(ops: Operators, max: number): readonly PendingOps[] {
    const { track, tid, links, start, end, open } = ops;
    const lane = this.#lanes.get(track) ?? this.#lane(track, links[0]!.args);
    const { worker, busy, waitNs } = lane;
    lane.waitNs = 0;
    busy.calls += links.length;
    if (!open) {
      busy.ns += this.stopped.net(track.pid, start, end);
      busy.waitNs += waitNs;
    }
    if (tid !== undefined && this.preemptions.seen) {
      const { times, ns } = this.preemptions.within(track.pid, tid, start, end);
      busy.preempted.times += times;
      busy.preempted.ns += ns;
    }
    if (worker !== 0) {
      if (!open) this.#addOthers(ops, waitNs);
      return none;
    }
    lane.pending.push({ ...ops, waitNs });
    lane.held += links.length;
    if (lane.held <= max) return none;
    lane.held = 0;
    return lane.pending.splice(0);
  }

  #addOthers({ track, links, times }: Operators, waitNs: number): void {
    for (let i = 0; i < links.length; i++) {
      this.table.addOther(links[i]!, this.stopped.net(track.pid, times[i]!, times[i + 1]!), i === 0 ? waitNs : 0);
    }
  }

  /** A wait inside of the operator that comes next on its row. */
  wait({ track, args, start, end, open }: Slice): void {
    const lane = this.#lanes.get(track) ?? this.#lane(track, args);
    if (open) return;
    const ns = this.stopped.net(track.pid, start, end);
    lane.waitNs += ns;
    const waited = this.#waited.get(track.pid);
    if (waited) waited.ns += ns;
    else this.#waited.set(track.pid, { since: start, ns });
  }

  /** Operators inside a graph that has ended (see {@link takeGraph}), and what all workers waited in it: NaN where that may be another's. */
  take(graph: Slice): { readonly ops: readonly PendingOps[]; readonly before: readonly PendingOps[]; readonly waitNs: number } {
    const { pid } = graph.track;
    const lanes = this.#byPid.get(pid) ?? [];
    const taken = takeGraph(lanes, graph);
    for (const lane of lanes) lane.held = count(lane.pending);
    const { since, ns } = this.#waited.get(pid) ?? { since: graph.start, ns: 0 };
    this.#waited.delete(pid);
    return { ...taken, waitNs: lanes.length > 1 || since < graph.start ? NaN : ns };
  }

  /** All that still waits. */
  rest(): readonly PendingOps[] {
    return [...this.#lanes.values()].flatMap((lane) => lane.pending.splice(0));
  }

  #lane(track: Track, args: Args | undefined): Lane {
    const worker = Number(args?.worker ?? 0);
    let busy = this.workers.get(worker);
    if (!busy) this.workers.set(worker, busy = { calls: 0, ns: 0, waitNs: 0, preempted: { times: 0, ns: 0 } });
    const lane: Lane = { worker, busy, waitNs: 0, pending: [], held: 0 };
    this.#lanes.set(track, lane);
    if (worker === 0) {
      const lanes = this.#byPid.get(track.pid);
      if (lanes) lanes.push(lane);
      else this.#byPid.set(track.pid, [lane]);
    }
    return lane;
  }
}
