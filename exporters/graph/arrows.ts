import { criticalPath, edgesOf } from "../../lib/analysis/computed_graphs.ts";
import type { Chain, GraphNode, Slice, Track } from "../../lib/events/span.ts";
import { WholeGraphs } from "./whole_graphs.ts";

/** Arrows by their numbers in the trace. */
export interface Arrows {
  /** From here to those that are computed from it. */
  readonly begin: readonly number[];
  readonly end: readonly number[];
}

/** A slice as it is drawn. */
export interface DrawnSlice extends Slice {
  readonly arrows?: Arrows;
}

/** What a graph was found to be when it was computed for the first time. */
interface Plan {
  readonly nodes: readonly GraphNode[];
  readonly arrows: readonly { readonly begin: number[]; readonly end: number[] }[];
  /** By place: on the critical path, by the times that the nodes took then. */
  readonly critical: ReadonlySet<number>;
}

/** An engine that builds a graph for every token computes each of them once: when so many wait to be computed again, no other is drawn. */
const MOST_PLANS = 64;

/**
 * Draws what operators are computed from, once for each graph: between the slices of its second computation, because at a slice has to be known what will be
 * computed from it. What belongs to the critical path gets an argument that says so. Of a graph that shares nodes with one that was drawn, nothing is
 * drawn again. What was drawn is looked at no more, and costs one look into a set.
 */
export class GraphArrows {
  readonly #whole = new WholeGraphs();
  /** By row: of the graph that is computed now, as long as it is the planned one. */
  readonly #current = new Map<Track, Plan | undefined>();
  /** By their first node. */
  readonly #plans = new Map<GraphNode, Plan>();
  readonly #drawn = new WeakSet<GraphNode>();
  #lastDrawn: Pick<Slice, "track" | "start"> | undefined;
  #arrows = 0;

  /** Whether its slices are drawn as they are: everything was drawn before. */
  passes({ track, links, times }: Chain): boolean {
    if (!links.every(({ node }) => !node || this.#drawn.has(node))) return false;
    if (links[0]!.node) this.#lastDrawn = { track, start: times.at(-2)! };
    return true;
  }

  /** The slice as it is to be drawn. */
  of(slice: Slice): DrawnSlice {
    const { node, track } = slice;
    if (!node) {
      if (slice.category === "ggml.graph") this.#end(slice);
      return slice;
    }
    if (this.#drawn.has(node)) {
      this.#lastDrawn = slice;
      return slice;
    }
    const place = this.#whole.add(slice);
    const plan = place === 0 ? this.#plans.get(node) : this.#current.get(track);
    const isPlanned = plan?.nodes[place] === node;
    this.#current.set(track, isPlanned ? plan : undefined);
    if (!isPlanned) return slice;
    return { ...slice, ...(plan.critical.has(place) && { args: { ...slice.args, critical: true } }), arrows: plan.arrows[place]! };
  }

  #end(graph: Slice): void {
    const ops = this.#whole.end(graph);
    if (ops.length === 0) return;
    const nodes = ops.map(({ node }) => node!);
    const last = this.#lastDrawn;
    const shares = last !== undefined && last.track === ops[0]!.track && last.start >= graph.start;
    const plan = this.#plans.get(nodes[0]!);
    if (shares || (plan?.nodes.length === nodes.length && plan.nodes.every((node, i) => node === nodes[i]))) {
      for (const node of nodes) this.#drawn.add(node);
      this.#plans.delete(nodes[0]!);
      return;
    }
    if (plan || this.#plans.size < MOST_PLANS) this.#plans.set(nodes[0]!, this.#planned(nodes, ops));
  }

  #planned(nodes: readonly GraphNode[], ops: readonly Slice[]): Plan {
    const edges = edgesOf(nodes);
    const arrows = nodes.map(() => ({ begin: [] as number[], end: [] as number[] }));
    const joined = new Set<string>();
    for (const { from, to } of edges) {
      // One arrow for a node that is computed twice from the same.
      if (from === undefined || joined.has(`${from} ${to}`)) continue;
      joined.add(`${from} ${to}`);
      const arrow = ++this.#arrows;
      arrows[from]!.begin.push(arrow);
      arrows[to]!.end.push(arrow);
    }
    const path = criticalPath({ nodes, edges, times: 1, ns: ops.map(({ start, end }) => end - start) });
    return { nodes, arrows, critical: new Set(path.nodes) };
  }
}
