import type { Exporter, OpenExporter } from "../lib/events/exporter.ts";
import type { Span } from "../lib/events/span.ts";
import { harmless } from "../lib/events/text.ts";
import { TextBlocks } from "./blocks.ts";
import { type ComputedGraph, ComputedGraphs, criticalPath, edgesOf, unknownSources } from "./graph/computed.ts";
import { toJson } from "./json.ts";
import { quantity } from "./text/quantity.ts";

/** For Graphviz: the graph that took the most time, its critical path bold. */
export const openDot: OpenExporter = (sink) => new GraphExporter(new TextBlocks(sink), dot);

/** For Mermaid: the same. */
export const openMermaid: OpenExporter = (sink) => new GraphExporter(new TextBlocks(sink), mermaid);

/** Every graph that was computed: nodes with their mean time, edges by index, the critical path. Times are nanoseconds. */
export const openGraphJson: OpenExporter = (sink) => new GraphExporter(new TextBlocks(sink), json);

type Draw = (graphs: ComputedGraphs) => string;

class GraphExporter implements Exporter {
  readonly #graphs = new ComputedGraphs();

  constructor(readonly out: TextBlocks, readonly draw: Draw) {}

  span(span: Span): void {
    this.#graphs.span(span);
  }

  flush(): void {
    this.out.tail(() => this.out.write(this.draw(this.#graphs)));
  }

  close(): void {
    this.out.write(this.draw(this.#graphs));
    this.out.close();
  }
}

function json({ graphs, more }: ComputedGraphs): string {
  const described = graphs.map((graph) => {
    const { nodes, times, ns } = graph;
    return {
      times,
      nodes: nodes.map(({ op, name, shape, layer }, id) => ({ id, op, name, shape, layer, meanNs: Math.round(ns[id]! / times) })),
      edges: edgesOf(graph).map(({ from, to, place, source }) => ({ from: from ?? null, to, place, name: source.name })),
      criticalPath: criticalPath(graph),
      unknownSources: unknownSources(graph),
    };
  });
  return `${toJson({ graphs: described, more })}\n`;
}

const sum = (ns: readonly number[]) => ns.reduce((total, one) => total + one, 0);

/** The graph that took the most time, and a line of what it is. */
function chosen({ graphs, more }: ComputedGraphs): { readonly graph: ComputedGraph; readonly words: string } | undefined {
  const [graph, ...others] = graphs.toSorted((a, b) => sum(b.ns) - sum(a.ns));
  if (!graph) return undefined;
  const longest = quantity(criticalPath(graph).ns, "ns"), all = quantity(sum(graph.ns) / graph.times, "ns");
  const words = `computed ${graph.times} times, ${all} each time, ${longest} of it on the critical path; ${others.length + more} other graphs`;
  const unknown = unknownSources(graph);
  return { graph, words: unknown > 0 ? `${words}; who computes ${unknown} of the sources is not known` : words };
}

/** What is drawn for a source that is no node of the graph: once for each name. */
function leaves(graph: ComputedGraph): Map<string, string> {
  const names = edgesOf(graph).filter(({ from }) => from === undefined).map(({ source }) => source.name);
  return new Map([...new Set(names)].map((name, i) => [name, `s${i}`]));
}

function dot(computed: ComputedGraphs): string {
  const found = chosen(computed);
  if (!found) return "// No graph was seen whole.\ndigraph {}\n";
  const { graph, words } = found;
  const path = new Set(criticalPath(graph).nodes), given = leaves(graph);
  const quoted = (text: string) => `"${harmless(text).replace(/["\\]/g, "\\$&")}"`;
  const lines = graph.nodes.map(({ op, name, shape }, id) => {
    const label = [op, name, shape, quantity(graph.ns[id]! / graph.times, "ns")].map((text) => quoted(text).slice(1, -1)).join("\\n");
    return `  n${id} [label="${label}"${path.has(id) ? ", penwidth=3" : ""}]`;
  });
  for (const [name, id] of given) lines.push(`  ${id} [label=${quoted(name)}, shape=plaintext]`);
  for (const { from, to, source } of edgesOf(graph)) {
    const bold = from !== undefined && path.has(from) && path.has(to) ? " [penwidth=3]" : "";
    lines.push(`  ${from === undefined ? given.get(source.name) : `n${from}`} -> n${to}${bold}`);
  }
  return `// ${words}\ndigraph {\n  node [shape=box]\n${lines.join("\n")}\n}\n`;
}

function mermaid(computed: ComputedGraphs): string {
  const found = chosen(computed);
  if (!found) return "%% No graph was seen whole.\nflowchart TD\n";
  const { graph, words } = found;
  const path = new Set(criticalPath(graph).nodes), given = leaves(graph);
  // Its own escapes, by number: whatever a name holds, it ends no label and is no markup.
  const safe = (text: string) => harmless(text).replace(/[^\p{L}\p{N} ._:×()-]/gu, (character) => `#${character.codePointAt(0)};`);
  const lines = graph.nodes.map(({ op, name, shape }, id) => {
    const label = [op, name, shape, quantity(graph.ns[id]! / graph.times, "ns")].map(safe).join("<br>");
    return `  n${id}["${label}"]${path.has(id) ? ":::critical" : ""}`;
  });
  for (const [name, id] of given) lines.push(`  ${id}(["${safe(name)}"])`);
  for (const { from, to, source } of edgesOf(graph)) lines.push(`  ${from === undefined ? given.get(source.name) : `n${from}`} --> n${to}`);
  return `%% ${words}\nflowchart TD\n${lines.join("\n")}\n  classDef critical stroke-width:4px\n`;
}
