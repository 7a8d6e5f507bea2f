import type { GraphNode, GraphSource } from "../events/span.ts";
import { sum } from "./sum.ts";

/** A graph that was computed, and how long its nodes took. */
export interface ComputedGraph {
  /** In the order in which they are computed, which is one in which sources come first. */
  nodes: readonly GraphNode[];
  readonly edges: readonly Edge[];
  /** How often the graph was computed. */
  times: number;
  /** Nanoseconds of each node, of all times. */
  readonly ns: number[];
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
  times = 0;
  readonly ns: number[];
  #edges: readonly Edge[] | undefined;

  /** `weight`: nanoseconds by which it is kept, those of its nodes and perhaps more. */
  constructor(public nodes: readonly GraphNode[], public weight: number) {
    this.ns = nodes.map(() => 0);
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
  /** How often graphs were computed that are not kept. One of them may have come again. */
  more = 0;
  /** How often any was computed. */
  computed = 0;

  /** A graph was computed, these nodes in this order, and how long each of them took. */
  add(nodes: readonly GraphNode[], ns: readonly number[]): void {
    if (nodes.length === 0) return;
    this.computed++;
    let known = this.#kept.find((graph) => graph.nodes.length === nodes.length && graph.nodes.every((node, i) => isSame(node, nodes[i]!)));
    if (known) {
      // A graph that is built again is described again: from now on these objects are its nodes, which are compared at a glance.
      known.nodes = nodes;
    } else {
      known = new KeptGraph(nodes, this.#makeRoom());
      this.#kept.push(known);
    }
    known.times++;
    known.weight += sum(ns);
    for (let i = 0; i < ns.length; i++) known.ns[i]! += ns[i]!;
  }

  /**
   * The lightest makes room for another one, which takes over its weight, for it may have been here before: so the most frequent of a stream are
   * found (space-saving). Prompts that are computed once replace one another, and a step that comes again and again stays, however little it takes.
   */
  #makeRoom(): number {
    if (this.#kept.length < MOST_GRAPHS) return 0;
    const least = this.#kept.reduce((least, graph) => graph.weight < least.weight ? graph : least);
    this.#kept.splice(this.#kept.indexOf(least), 1);
    this.more += least.times;
    return least.weight;
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

/** The same computation at the same place, from the same. */
function isSame(a: GraphNode, b: GraphNode): boolean {
  if (a === b) return true;
  if (a.address !== b.address || a.into !== b.into || a.op !== b.op || a.name !== b.name || a.shape !== b.shape) return false;
  return a.sources.length === b.sources.length && a.sources.every((source, place) => isSameSource(source, b.sources[place]));
}

function isSameSource(a: GraphSource | undefined, b: GraphSource | undefined): boolean {
  return a?.address === b?.address && a?.root === b?.root && a?.name === b?.name;
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
