import type { GraphNode, GraphSource, Span } from "../../lib/events/span.ts";
import type { TestSpans } from "./spans.ts";

export const from = (root: number, name: string, ...behind: number[]): GraphSource => ({ address: root, root, name, behind });
export const weight = (name: string): GraphSource => ({ address: 9000, root: 9000, name, behind: [], cold: true });
export const node = (address: number, op: string, name: string, ...sources: (GraphSource | undefined)[]): GraphNode => //
({ address, op, name, shape: "64×1", layer: 0, sources });

/** b and c from a; d from both, c by a view; 10, 20, 5 and 1 ms. */
export const diamond = [
  node(1, "RMS_NORM", "a", weight("input")),
  node(2, "MUL_MAT", "b", weight("w"), from(1, "a")),
  // Through a norm that was fused with its product, neither of which is seen.
  node(3, "ROPE", "c", from(60, "a_norm", 61, 1)),
  node(4, "ADD", "d", from(2, "b"), undefined, from(3, "c (view)"), from(77, "unknown")),
];
const ms = [10, 20, 5, 1];

/** The graph computed once, each node `factor` times as long, from `at` ms. */
export function computed(s: TestSpans, nodes: readonly GraphNode[], at = 0, factor = 1): Span[] {
  let time = at;
  const slices = nodes.map((node, i) => ({ ...s.op(node.op, time, time += ms[i % ms.length]! * factor), node }));
  return [...slices, s.graph(at, time, nodes.length)];
}
