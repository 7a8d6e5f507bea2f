import { type ComputedGraph, ComputedGraphs, criticalPath, type Edge, meanNs, unknownSources } from "../lib/analysis/computed_graphs.ts";
import { singly } from "../lib/events/chain.ts";
import type { Exporter, OpenExporter } from "../lib/events/exporter.ts";
import type { Span } from "../lib/events/span.ts";
import { harmless } from "../lib/events/text.ts";
import { TextBlocks } from "./blocks.ts";
import { WholeGraphs } from "./graph/whole_graphs.ts";
import { toJson } from "./json.ts";
import { quantity } from "../lib/events/quantity.ts";

/** For Graphviz: the graph that took the most time, its critical path bold. */
export const openDot: OpenExporter = (sink) => new GraphExporter(new TextBlocks(sink), dot);

/** For Mermaid: the same. */
export const openMermaid: OpenExporter = (sink) => new GraphExporter(new TextBlocks(sink), mermaid);

/**
 * Every graph that was computed, or of many those that took the most time (`more`: how often others were computed): nodes with their mean time,
 * edges by index, the critical path. Times are nanoseconds.
 */
export const openGraphJson: OpenExporter = (sink) => new GraphExporter(new TextBlocks(sink), json);

const NONE = "No graph was seen whole.";

type Draw = (graphs: ComputedGraphs) => string;

class GraphExporter implements Exporter {
  readonly #graphs = new ComputedGraphs();
  readonly #whole = new WholeGraphs();
  /** How often graphs have to have been computed for the next drawing. */
  #due = 0;

  constructor(readonly out: TextBlocks, readonly draw: Draw) {}

  span(span: Span): void {
    for (const one of singly(span)) {
      if (one.type !== "slice") continue;
      if (one.category === "ggml.op" && one.node) this.#whole.add(one);
      else if (one.category === "ggml.graph") {
        const ops = this.#whole.end(one);
        this.#graphs.add(ops.map(({ node }) => node!), ops.map(({ start, end }) => end - start));
      }
    }
  }

  /** Draws all again, which takes long where there are many graphs: if an eighth more was computed than when they were drawn last. */
  flush(): void {
    const { computed } = this.#graphs;
    if (computed < this.#due) return;
    this.#due = computed + Math.max(1, computed >> 3);
    this.out.tail(() => this.out.write(this.draw(this.#graphs)));
  }

  close(): void {
    this.out.write(this.draw(this.#graphs));
    this.out.close();
  }

  get empty(): string | undefined {
    return this.#graphs.computed === 0 ? NONE : undefined;
  }
}

function json({ graphs, more }: ComputedGraphs): string {
  const described = graphs.map((graph) => {
    const { nodes, edges, times, ns } = graph;
    return {
      times,
      nodes: nodes.map(({ op, name, shape, layer }, id) => ({ id, op, name, shape, layer, meanNs: Math.round(ns[id]! / times) })),
      edges: edges.map(({ from, to, place, source }) => ({ from: from ?? null, to, place, name: source.name })),
      criticalPath: criticalPath(graph),
      unknownSources: unknownSources(graph),
    };
  });
  return `${toJson({ graphs: described, more })}\n`;
}

/** What is drawn: the graph that took the most time. */
interface Drawing {
  readonly graph: ComputedGraph;
  /** A line of what it is. */
  readonly words: string;
  /** Nodes of the critical path. */
  readonly path: ReadonlySet<number>;
  /** Sources that are no nodes of the graph: once for each name, with an id of their own. */
  readonly given: ReadonlyMap<string, string>;
  /** Lines of a node's label. */
  label(id: number): string[];
  /** Id of what an edge comes from. */
  from(edge: Edge): string;
}

function drawingOf({ longest: graph, graphs, more }: ComputedGraphs): Drawing | undefined {
  if (!graph) return undefined;
  const { nodes, edges, ns, times } = graph;
  const critical = criticalPath(graph);
  const longest = quantity(critical.ns, "ns"), all = quantity(meanNs(graph), "ns");
  const others = `${graphs.length - 1} other graphs${more > 0 ? `, and more, computed ${more} times, that were not kept` : ""}`;
  const words = `computed ${times} times, ${all} each time, ${longest} of it on the critical path; ${others}`;
  const unknown = unknownSources(graph);
  const names = new Set(edges.filter(({ from }) => from === undefined).map(({ source }) => source.name));
  const given = new Map([...names].map((name, i) => [name, `s${i}`]));
  return {
    graph,
    words: unknown > 0 ? `${words}; who computes ${unknown} of the sources is not known` : words,
    path: new Set(critical.nodes),
    given,
    label: (id) => [nodes[id]!.op, nodes[id]!.name, nodes[id]!.shape, quantity(ns[id]! / times, "ns")],
    from: ({ from, source }) => from === undefined ? given.get(source.name)! : `n${from}`,
  };
}

function dot(computed: ComputedGraphs): string {
  const drawing = drawingOf(computed);
  if (!drawing) return `// ${NONE}\ndigraph {}\n`;
  const { graph, words, path, given } = drawing;
  const quoted = (text: string) => `"${harmless(text).replace(/["\\]/g, "\\$&")}"`;
  const lines = graph.nodes.map((_, id) => {
    const label = drawing.label(id).map((text) => quoted(text).slice(1, -1)).join("\\n");
    return `  n${id} [label="${label}"${path.has(id) ? ", penwidth=3" : ""}]`;
  });
  for (const [name, id] of given) lines.push(`  ${id} [label=${quoted(name)}, shape=plaintext]`);
  for (const edge of graph.edges) {
    const { from, to } = edge;
    const bold = from !== undefined && path.has(from) && path.has(to) ? " [penwidth=3]" : "";
    lines.push(`  ${drawing.from(edge)} -> n${to}${bold}`);
  }
  return `// ${words}\ndigraph {\n  node [shape=box]\n${lines.join("\n")}\n}\n`;
}

function mermaid(computed: ComputedGraphs): string {
  const drawing = drawingOf(computed);
  if (!drawing) return `%% ${NONE}\nflowchart TD\n`;
  const { graph, words, path, given } = drawing;
  // Its own escapes, by number: whatever a name holds, it ends no label and is no markup.
  const safe = (text: string) => harmless(text).replace(/[^\p{L}\p{N} ._:×()-]/gu, (character) => `#${character.codePointAt(0)};`);
  const lines = graph.nodes.map((_, id) => {
    const label = drawing.label(id).map(safe).join("<br>");
    return `  n${id}["${label}"]${path.has(id) ? ":::critical" : ""}`;
  });
  for (const [name, id] of given) lines.push(`  ${id}(["${safe(name)}"])`);
  for (const edge of graph.edges) lines.push(`  ${drawing.from(edge)} --> n${edge.to}`);
  const text = `%% ${words}\nflowchart TD\n${lines.join("\n")}\n  classDef critical stroke-width:4px\n`, edges = graph.edges.length;
  // What it says is a part of the text, too.
  return mermaidLimits(edges, text.length + mermaidLimits(edges, text.length).length) + text;
}

/** What Mermaid draws at most unless whoever calls it says otherwise: a file cannot. */
const MAX_EDGES = 500, MAX_TEXT = 50_000;

/** A line that says which settings it takes to draw so many edges in so many characters, where it takes any. */
function mermaidLimits(edges: number, characters: number): string {
  const settings = [
    ...edges > MAX_EDGES ? [`maxEdges ${edges}`] : [],
    ...characters > MAX_TEXT ? [`maxTextSize ${Math.ceil(characters / 1000) * 1000}`] : [],
  ];
  return settings.length === 0
    ? ""
    : `%% Mermaid draws this if its configuration (mmdc --configFile) says ${settings.join(" and ")}; a .dot has no limit.\n`;
}
