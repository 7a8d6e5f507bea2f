import type { Args, Chain, GraphNode, Instant, OperatorSum, Slice, Track } from "../events/span.ts";
import { ComputedGraphs } from "./computed_graphs.ts";
import type { ContextTables } from "./context_tables.ts";
import type { DecodeContext } from "./decode_context.ts";
import { count, OperatorLanes, operatorsOf, type PendingOps } from "./operator_lanes.ts";
import { balanced } from "./balanced.ts";
import { imbalanceOf } from "./imbalance.ts";
import { type Phase, phaseOf, PHASES } from "./operator_sums.ts";
import type { OperatorTable } from "./operator_table.ts";
import { Preemptions } from "./preemptions.ts";
import type { StoppedTimes } from "./stopped.ts";

/** A graph that waits for the slice of the `llama_decode` around it. */
interface PendingGraph {
  readonly slice: Slice;
  readonly ops: readonly PendingOps[];
}

/** The graphs of one thread, and how many operators and graphs that are. */
interface Waiting {
  readonly graphs: PendingGraph[];
  held: number;
}

/** Where what was computed is added up. */
interface Place {
  readonly phase: Phase;
  readonly table: OperatorTable;
}

/**
 * What waits is bounded: beyond this many operators a process does not call `llama_decode`, and its graphs belong to none. Who is known to call it
 * may give it a long prompt as a whole, which takes hundreds of graphs: so many times as many operators.
 */
const MAX_PENDING = 131_072, OF_A_CALLER = 16;

/**
 * Attaches operators to graphs and graphs to decodes, by containment in time: operators end before their graph, on lanes of the same process;
 * a graph ends before its decode, on the same thread. Then their time goes to the table of its context, split by the phase of the decode.
 */
export class GraphLedger {
  readonly preemptions = new Preemptions();
  readonly computed = new ComputedGraphs();
  readonly #lanes: OperatorLanes;
  /** Of graphs in no call. */
  readonly #elsewhere: Place;
  readonly #graphs = new Map<string, Waiting>();
  /** Processes that call `llama_decode`. */
  readonly #callers = new Set<number>();
  readonly #nsByPhase: Record<Phase, number> = { prefill: 0, decode: 0, other: 0 };
  /** Of graphs whose operators are in sums: what no operator has accounted for yet. */
  readonly #unsummedNs: Record<Phase, number> = { prefill: 0, decode: 0, other: 0 };
  /** Of graphs whose workers' waits are known. */
  readonly #imbalance = { graphs: 0, sum: 0, most: 0 };
  /** Those that wait. */
  readonly #sums: { readonly name: string; readonly sum: OperatorSum }[] = [];
  /** In what kind of call, of which context, an operator was seen last. */
  readonly #places = new WeakMap<Args, Place>();
  /** The most workers of a graph, in calls of each kind. */
  readonly threads: Record<Phase, number> = { prefill: 0, decode: 0, other: 0 };
  count = 0;
  openCount = 0;
  nodes = 0;
  withoutOperators = 0;
  /** Calls of worker 0 in no graph. */
  unattached = 0;

  /** `summed`: graphs without operators are those whose operators were added up. */
  constructor(readonly tables: ContextTables, readonly stopped: StoppedTimes, readonly summed = false, readonly maxPending = MAX_PENDING) {
    this.#lanes = new OperatorLanes(tables.rest, stopped, this.preemptions);
    this.#elsewhere = { phase: "other", table: tables.rest };
  }

  ops(span: Slice | Chain): void {
    const late = this.#lanes.add(operatorsOf(span), this.maxPending);
    if (late.length > 0) this.#settleLoose(late);
  }

  wait(slice: Slice): void {
    this.#lanes.wait(slice);
  }

  /** In what kind of call they were is known from one that was seen; where that has not come yet, they wait. */
  sum({ name, sum }: Instant): void {
    if (!sum) return;
    const place = this.#places.get(sum.of);
    if (place) this.#addSum(name, sum, place);
    else this.#sums.push({ name, sum });
  }

  graph(slice: Slice): void {
    const { ops, before, waitNs } = this.#lanes.take(slice);
    this.count++;
    this.unattached += count(before);
    this.nodes += Number(slice.args?.nodes ?? 0);
    if (slice.open) this.openCount++;
    if (ops.length > 0) this.#balance(imbalanceOf(waitNs, Number(slice.args?.threads ?? 1) * this.#net(slice)));
    const key = threadKey(slice.track);
    let waiting = this.#graphs.get(key);
    if (!waiting) this.#graphs.set(key, waiting = { graphs: [], held: 0 });
    waiting.graphs.push({ slice, ops });
    waiting.held += count(ops) + 1;
    const most = this.#callers.has(slice.track.pid) ? OF_A_CALLER * this.maxPending : this.maxPending;
    if (waiting.held > most) this.#settleAll(key, waiting);
  }

  /** It has made a context, or used one: what it computes may be in a call. */
  calls(pid: number): void {
    this.#callers.add(pid);
  }

  /** Returns the time of the graphs inside the call, which is one of that context. */
  decode(slice: Slice, context: DecodeContext): number {
    this.calls(slice.track.pid);
    const key = threadKey(slice.track);
    const place = { phase: phaseOf(slice), table: this.tables.of(context) };
    let insideNs = 0;
    for (const graph of this.#graphs.get(key)?.graphs ?? []) {
      const inside = graph.slice.start >= slice.start && graph.slice.end <= slice.end;
      const ns = this.#settle(graph, inside ? place : this.#elsewhere);
      if (inside) insideNs += ns;
    }
    this.#graphs.delete(key);
    return insideNs;
  }

  /** Nothing follows: what still waits belongs to none. */
  finish(): void {
    for (const [key, waiting] of [...this.#graphs]) this.#settleAll(key, waiting);
    this.#settleLoose(this.#lanes.rest());
    this.#settleSums();
  }

  get workers(): OperatorLanes["workers"] {
    return this.#lanes.workers;
  }

  /** Of graphs, each as {@link imbalanceOf} has it; null where that is known of none. */
  get imbalance(): { readonly mean: number; readonly most: number } | null {
    const { graphs, sum, most } = this.#imbalance;
    return graphs > 0 ? { mean: sum / graphs, most } : null;
  }

  /** Time in graphs whose end was seen, and with sums in one whose end was not: what the table's rows sum to. */
  get graphNs(): number {
    return PHASES.reduce((sum, phase) => sum + this.#nsByPhase[phase], 0);
  }

  #balance(imbalance: number | null): void {
    if (imbalance === null) return;
    this.#imbalance.graphs++;
    this.#imbalance.sum += imbalance;
    this.#imbalance.most = Math.max(this.#imbalance.most, imbalance);
  }

  #net(slice: Slice): number {
    return slice.open ? NaN : this.stopped.net(slice.track.pid, slice.start, slice.end);
  }

  #settleAll(key: string, waiting: Waiting): void {
    this.#graphs.delete(key);
    for (const graph of waiting.graphs) this.#settle(graph, this.#elsewhere);
  }

  /**
   * Operators without a graph: the window opened inside theirs, and they are left out, so that calls stay nodes × graphs. Where no graph is
   * seen at all (the library hides the function), they are all there is, and their own sum stands for the time in graphs.
   */
  #settleLoose(ops: readonly PendingOps[]): void {
    if (this.count > 0) {
      this.unattached += count(ops);
      return;
    }
    this.#nsByPhase.other += this.#add(ops, this.#elsewhere);
  }

  #settleSums(): void {
    for (const { name, sum } of this.#sums.splice(0)) this.#addSum(name, sum, this.#places.get(sum.of) ?? this.#elsewhere);
    // A graph that was built for one kind of call may have been computed in the other.
    const rest = balanced(this.#unsummedNs);
    for (const phase of PHASES) this.tables.rest.addTime("graph rest", phase, rest[phase]);
  }

  #addSum(name: string, sum: OperatorSum, { phase, table }: Place): void {
    table.addSum({ name, args: sum.of }, phase, sum);
    table.addTime("graph start", phase, sum.startNs);
    this.#unsummedNs[phase] -= sum.ns + sum.startNs;
  }

  /** Returns the graph's time, 0 when its end was not seen. */
  #settle({ slice, ops }: PendingGraph, place: Place): number {
    const { phase, table } = place;
    this.threads[phase] = Math.max(this.threads[phase], Number(slice.args?.threads ?? 1));
    if (ops.length === 0 && this.summed) {
      // Those of its operators that ended are in the sums, whether or not it did.
      const ns = this.stopped.net(slice.track.pid, slice.start, slice.end);
      this.#unsummedNs[phase] += ns;
      this.#nsByPhase[phase] += ns;
      return slice.open ? 0 : ns;
    }
    if (ops.length === 0) this.withoutOperators++;
    const ns = this.#net(slice);
    if (ns !== ns) {
      // The graph's time is unknown, so its operators count as calls only: otherwise the rows would exceed the graphs.
      for (const link of ops.flatMap(({ links }) => links)) table.add(link, phase, NaN, 0);
      return 0;
    }
    this.#compute(ops);
    const sum = this.#add(ops, place);
    const first = ops[0];
    const beforeFirst = first ? this.stopped.net(slice.track.pid, slice.start, first.start) : 0;
    table.addTime("graph start", phase, beforeFirst);
    table.addTime("graph rest", phase, ns - beforeFirst - sum);
    this.#nsByPhase[phase] += ns;
    return ns;
  }

  /** Operators of a graph that has ended: a graph where all of them have, because a part of one is another. */
  #compute(ops: readonly PendingOps[]): void {
    if (ops.some(({ open }) => open)) return;
    const nodes: GraphNode[] = [], ns: number[] = [];
    for (const { track, links, times } of ops) {
      for (let i = 0; i < links.length; i++) {
        const { node } = links[i]!;
        if (!node) continue;
        nodes.push(node);
        ns.push(this.stopped.net(track.pid, times[i]!, times[i + 1]!));
      }
    }
    this.computed.add(nodes, ns);
  }

  /** Returns the time of those whose end was seen. */
  #add(ops: readonly PendingOps[], place: Place): number {
    const { phase, table } = place;
    let sum = 0;
    for (const { track, links, times, open, waitNs } of ops) {
      for (let i = 0; i < links.length; i++) {
        const link = links[i]!;
        if (this.summed && link.args) this.#places.set(link.args, place);
        const ns = open ? NaN : this.stopped.net(track.pid, times[i]!, times[i + 1]!);
        table.add(link, phase, ns, i === 0 ? waitNs : 0);
        if (!open) sum += ns;
      }
    }
    return sum;
  }
}

function threadKey(track: Track): string {
  return `${track.pid}/${track.tid ?? 0}`;
}
