import type { GraphNode } from "../events/span.ts";
import { type ComputedGraphs, criticalPath, meanNs, unknownSources } from "./computed_graphs.ts";
import type { CriticalPathResult } from "./operators_schema.ts";

/** Of the graph that took the most time; null where no graph was seen whole. */
export function criticalPathResult({ longest: graph, more }: ComputedGraphs): CriticalPathResult | null {
  if (!graph) return null;
  const { nodes, ns } = criticalPath(graph);
  const { times } = graph;
  const operators = [...Map.groupBy(nodes, (node) => nameOf(graph.nodes[node]!))].map(([name, some]) => ({
    name,
    nodes: some.length,
    ns: some.reduce((sum, node) => sum + graph.ns[node]!, 0) / times,
  }));
  const layers = new Set(nodes.map((node) => graph.nodes[node]!.layer).filter((layer) => layer !== undefined));
  return {
    times,
    graphNs: meanNs(graph),
    graphNodes: graph.nodes.length,
    ns,
    nodes: nodes.length,
    layers: [...layers].sort((a, b) => a - b),
    operators: operators.sort((a, b) => b.ns - a.ns),
    unknownSources: unknownSources(graph),
    notKept: more,
  };
}

/** As other tables name it: others that were fused with it are in its time. */
function nameOf({ op, label = op }: GraphNode): string {
  return label;
}
