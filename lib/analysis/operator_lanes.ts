import { type GraphRow, takeGraph } from "../events/graph_row.ts";
import type { Slice, Track } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import type { Call, OperatorTable } from "./operator_table.ts";

/** One operator on worker 0 that waits for the slice of its graph. */
export interface PendingOp extends Call {
  readonly start: Ns;
  readonly end: Ns;
  /** Net of stops; NaN: its end was not seen. */
  readonly ns: number;
  /** Of that, waiting for other workers. */
  readonly waitNs: number;
}

interface Busy {
  calls: number;
  ns: number;
  waitNs: number;
}

/** A row of the trace on which one worker's operators are drawn, of one graph at a time. */
interface Lane extends GraphRow<PendingOp> {
  readonly worker: number;
  readonly busy: Busy;
  /** In the operator that has not come yet: waits end before it. */
  waitNs: number;
}

/** One object for all calls: nearly every operator is answered with it. */
const none: readonly PendingOp[] = [];

/** The operators of worker 0 until their graph is known, and how busy each worker is. */
export class OperatorLanes {
  readonly #lanes = new Map<Track, Lane>();
  /** Lanes of a worker 0: a process that computes several graphs at once has one for each. */
  readonly #byPid = new Map<number, Lane[]>();
  readonly workers = new Map<number, Busy>();

  constructor(readonly table: OperatorTable) {}

  /**
   * `ns` is the net duration, NaN where the end was not seen. Returns operators that waited too long, if any: a graph has some thousands, so
   * with more than `max` of them none is coming.
   */
  add(slice: Slice, ns: number, max: number): readonly PendingOp[] {
    const lane = this.#lanes.get(slice.track) ?? this.#lane(slice);
    const timed = ns === ns;
    const { waitNs } = lane;
    lane.waitNs = 0;
    lane.busy.calls++;
    if (timed) {
      lane.busy.ns += ns;
      lane.busy.waitNs += waitNs;
    }
    if (lane.worker !== 0) {
      if (timed) this.table.addOther(slice, ns, waitNs);
      return none;
    }
    lane.pending.push({ name: slice.name, args: slice.args, start: slice.start, end: slice.end, ns, waitNs });
    return lane.pending.length > max ? lane.pending.splice(0) : none;
  }

  /** A wait inside of the operator that comes next on its row; `ns`: net of stops. */
  wait(slice: Slice, ns: number): void {
    const lane = this.#lanes.get(slice.track) ?? this.#lane(slice);
    if (ns === ns) lane.waitNs += ns;
  }

  /** Operators inside a graph that has ended: see {@link takeGraph}. */
  take(graph: Slice): { readonly ops: readonly PendingOp[]; readonly before: readonly PendingOp[] } {
    return takeGraph(this.#byPid.get(graph.track.pid) ?? [], graph);
  }

  /** All that still waits. */
  rest(): readonly PendingOp[] {
    return [...this.#lanes.values()].flatMap((lane) => lane.pending.splice(0));
  }

  #lane(slice: Slice): Lane {
    const worker = Number(slice.args?.worker ?? 0);
    let busy = this.workers.get(worker);
    if (!busy) this.workers.set(worker, busy = { calls: 0, ns: 0, waitNs: 0 });
    const lane: Lane = { worker, busy, waitNs: 0, pending: [] };
    this.#lanes.set(slice.track, lane);
    if (worker === 0) {
      const lanes = this.#byPid.get(slice.track.pid);
      if (lanes) lanes.push(lane);
      else this.#byPid.set(slice.track.pid, [lane]);
    }
    return lane;
  }
}
