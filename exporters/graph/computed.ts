import type { GraphNode, GraphSource, Slice, Span } from "../../lib/events/span.ts";

/** A graph that was computed, and how long its nodes took. */
export interface ComputedGraph {
  /** In the order in which they are computed, which is one in which sources come first. */
  readonly nodes: readonly GraphNode[];
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

/** An engine that builds a graph for every token must not fill the memory: graphs beyond this are counted. */
const MOST_GRAPHS = 64;

/** Finds the graphs that differ among all that were computed: by what their nodes are, not by their times. */
export class ComputedGraphs {
  readonly graphs: ComputedGraph[] = [];
  /** Graphs that were computed and are not kept. */
  more = 0;
  /** By row: operators whose graph has not ended. */
  readonly #pending = new Map<number, Slice[]>();

  span(span: Span): void {
    if (span.type !== "slice") return;
    if (span.category === "ggml.op" && span.node) this.#operator(span);
    else if (span.category === "ggml.graph") this.#graph(span);
  }

  #operator(slice: Slice): void {
    const pending = this.#pending.get(slice.track.id);
    if (pending) pending.push(slice);
    else this.#pending.set(slice.track.id, [slice]);
  }

  /** Its operators ended before it did. */
  #graph(graph: Slice): void {
    for (const [row, slices] of this.#pending) {
      const [first] = slices;
      if (!first || first.track.pid !== graph.track.pid || first.start < graph.start || first.start > graph.end) continue;
      this.#pending.delete(row);
      // A part of a graph is another graph.
      if (!graph.open && slices.every(({ open }) => !open)) this.#add(slices);
    }
  }

  #add(slices: readonly Slice[]): void {
    let known = this.graphs.find(({ nodes }) => nodes.length === slices.length && nodes.every((node, i) => node === slices[i]!.node));
    if (!known) {
      if (this.graphs.length === MOST_GRAPHS) return void this.more++;
      known = { nodes: slices.map(({ node }) => node!), times: 0, ns: slices.map(() => 0) };
      this.graphs.push(known);
    }
    known.times++;
    slices.forEach(({ start, end }, i) => known.ns[i]! += end - start);
  }
}

/** Every source of every node, in order. An address means the node that was computed there last. */
export function edgesOf({ nodes }: ComputedGraph): Edge[] {
  const at = new Map<number, number>();
  return nodes.flatMap(({ address, sources }, to) => {
    const edges = sources.flatMap((source, place) => source ? [{ from: source.cold ? undefined : nodeOf(source, at), to, place, source }] : []);
    at.set(address, to);
    return edges;
  });
}

function nodeOf({ root, behind }: GraphSource, at: ReadonlyMap<number, number>): number | undefined {
  return [root, ...behind].map((address) => at.get(address)).find((node) => node !== undefined);
}

/** Sources that somebody computes and nobody knows who: chains through them are not seen. */
export function unknownSources(graph: ComputedGraph): number {
  return edgesOf(graph).filter(({ from, source }) => from === undefined && !source.cold).length;
}

/** The nodes that no number of processors would make shorter: the longest chain, by the nodes' mean times. In order. */
export function criticalPath(graph: ComputedGraph): { readonly nodes: readonly number[]; readonly ns: number } {
  const { nodes, ns, times } = graph;
  const through = nodes.map(() => 0), before = nodes.map(() => -1);
  const edges = Map.groupBy(edgesOf(graph), ({ to }) => to);
  let last = -1;
  nodes.forEach((_, to) => {
    let longest = -1;
    for (const { from } of edges.get(to) ?? []) if (from !== undefined && (longest < 0 || through[from]! > through[longest]!)) longest = from;
    before[to] = longest;
    through[to] = ns[to]! / times + (longest < 0 ? 0 : through[longest]!);
    if (last < 0 || through[to]! > through[last]!) last = to;
  });
  const path: number[] = [];
  for (let node = last; node >= 0; node = before[node]!) path.unshift(node);
  return { nodes: path, ns: last < 0 ? 0 : through[last]! };
}
