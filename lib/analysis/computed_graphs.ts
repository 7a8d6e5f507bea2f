import type { GraphNode, GraphSource } from "../events/span.ts";
import { GraphTimes, isSame, TimesOfOthers } from "./graph_times.ts";
import { sum } from "./sum.ts";

/** A graph that was computed, and how long its nodes took. */
export interface ComputedGraph {
  /** In the order in which they are computed, which is one in which sources come first. */
  nodes: readonly GraphNode[];
  readonly edges: readonly Edge[];
  /** How often the graph was computed. */
  readonly times: number;
  /** Nanoseconds of each node, of all times. */
  readonly ns: readonly number[];
}

/** From a source to the node that is computed from it. */
export interface Edge {
  /** Index of the node it comes from, also where others between were fused into that; undefined for what is no node here: a weight, an input. */
  readonly from: number | undefined;
  readonly to: number;
  /** Which place of the node's sources. */
  readonly place: number;
  readonly source: GraphSource;
}

/** An engine that builds a graph for every token must not fill the memory. */
const MOST_GRAPHS = 64;

class KeptGraph implements ComputedGraph {
  #edges: readonly Edge[] | undefined;

  constructor(public nodes: readonly GraphNode[], readonly spent: GraphTimes) {}

  get times(): number {
    return this.spent.times;
  }

  get ns(): readonly number[] {
    return this.spent.ns;
  }

  /** Most graphs of an engine that builds one for every token are never drawn. */
  get edges(): readonly Edge[] {
    return this.#edges ??= edgesOf(this.nodes);
  }
}

/**
 * Finds the graphs that differ among all that were computed: by what their nodes are, not by their times. Of more than are kept, those stay that
 * take the most time, all times together.
 */
export class ComputedGraphs {
  readonly #kept: KeptGraph[] = [];
  readonly #others = new TimesOfOthers();
  /** How often any was computed. */
  computed = 0;

  /** A graph was computed, these nodes in this order, and how long each of them took. */
  add(nodes: readonly GraphNode[], ns: readonly number[]): void {
    if (nodes.length === 0) return;
    this.computed++;
    const known = this.#kept.find((graph) => graph.nodes.length === nodes.length && graph.nodes.every((node, i) => isSame(node, nodes[i]!)));
    if (known) {
      // A graph that is built again is described again: from now on these objects are its nodes, which are compared at a glance.
      known.nodes = nodes;
      known.spent.add(ns);
      return;
    }
    const spent = this.#others.take(nodes);
    spent.add(ns);
    if (this.#hasRoomFor(spent)) this.#kept.push(new KeptGraph(nodes, spent));
    else this.#others.put(nodes, spent);
  }

  /** The lightest makes room for one that has taken more time than it, by then: a prompt that is computed once waits in vain. */
  #hasRoomFor({ total }: GraphTimes): boolean {
    if (this.#kept.length < MOST_GRAPHS) return true;
    const least = this.#kept.reduce((least, graph) => graph.spent.total < least.spent.total ? graph : least);
    if (least.spent.total >= total) return false;
    this.#kept.splice(this.#kept.indexOf(least), 1);
    this.#others.put(least.nodes, least.spent);
    return true;
  }

  /** How often graphs were computed that are not kept. One of them may have come again. */
  get more(): number {
    return this.computed - sum(this.#kept.map(({ times }) => times));
  }

  get graphs(): readonly ComputedGraph[] {
    return this.#kept;
  }

  /** That which took the most time, all times together. */
  get longest(): ComputedGraph | undefined {
    return this.graphs.toSorted((a, b) => meanNs(b) * b.times - meanNs(a) * a.times)[0];
  }
}

/** Nanoseconds of all nodes, each time. */
export function meanNs({ ns, times }: ComputedGraph): number {
  return sum(ns) / times;
}

/**
 * Every source of every node, in order. An address means the node that was computed there last. What nobody computes, but shows what somebody did, means who
 * wrote last into that memory.
 */
export function edgesOf(nodes: readonly GraphNode[]): Edge[] {
  const at = new Map<number, number>(), wrote = new Map<number, number>();
  return nodes.flatMap(({ address, into, sources }, to) => {
    const fromOf = ({ address, cold, root, behind }: GraphSource) => at.get(address) ?? (cold ? undefined : firstOf([root, ...behind], wrote));
    const edges = sources.flatMap((source, place) => source ? [{ from: fromOf(source), to, place, source }] : []);
    at.set(address, to);
    wrote.set(into ?? address, to);
    return edges;
  });
}

function firstOf(addresses: readonly number[], nodes: ReadonlyMap<number, number>): number | undefined {
  return addresses.map((address) => nodes.get(address)).find((node) => node !== undefined);
}

/** Sources that somebody computes and nobody knows who: chains through them are not seen. */
export function unknownSources({ edges }: ComputedGraph): number {
  return edges.filter(({ from, source }) => from === undefined && !source.cold).length;
}

/**
 * The nodes that no number of processors would make shorter: the longest chain, by the nodes' mean times. In order. Who reads a memory or writes into a part
 * of it waits for who wrote there last, also where that is no source of anybody: attention reads a cache that, by its sources, nobody computes.
 */
export function criticalPath(graph: ComputedGraph): { readonly nodes: readonly number[]; readonly ns: number } {
  const { nodes, edges, ns, times } = graph;
  const through = nodes.map(() => 0), before = nodes.map(() => -1);
  const given = Map.groupBy(edges, ({ to }) => to);
  const wrote = new Map<number, number>();
  let last = -1;
  nodes.forEach(({ address, into }, to) => {
    const sources = (given.get(to) ?? []).flatMap(({ from, source }) => [from, wrote.get(source.root)]);
    let longest = -1;
    for (const made of into === undefined ? sources : [...sources, wrote.get(into)]) {
      if (made !== undefined && (longest < 0 || through[made]! > through[longest]!)) longest = made;
    }
    before[to] = longest;
    through[to] = ns[to]! / times + (longest < 0 ? 0 : through[longest]!);
    if (last < 0 || through[to]! > through[last]!) last = to;
    wrote.set(into ?? address, to);
  });
  const path: number[] = [];
  for (let node = last; node >= 0; node = before[node]!) path.unshift(node);
  return { nodes: path, ns: last < 0 ? 0 : through[last]! };
}
