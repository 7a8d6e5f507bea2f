import assert from "node:assert/strict";
import type { GraphNode, Span } from "../events/span.ts";
import { criticalPath, edgesOf } from "./computed_graphs.ts";
import { operators } from "./operators.ts";
import { presentOperators } from "./operators_present.ts";
import { operatorsResultSchema } from "./operators_schema.ts";
import { computed, diamond, from, node, weight } from "../../tests/harness/graphs.ts";
import { analyse, MS, TestSpans } from "../../tests/harness/spans.ts";

/** What is known of the critical path, and what of it is presented: the table, and sentences about sources. */
function seen(spans: readonly Span[]) {
  const result = analyse(operators(), spans);
  assert.deepEqual(operatorsResultSchema.parse(result), result);
  const views = presentOperators(result);
  const table = views.find((view) => view.type === "table" && view.title.startsWith("Critical path"));
  const notes = views.flatMap((view) => view.type === "note" && view.text.includes("source") ? [view.text] : []);
  return { path: result.criticalPath, table: table?.type === "table" ? table : undefined, notes };
}

Deno.test("critical path: of the graph that took the most time, by mean times, and what is beside it", () => {
  const s = new TestSpans();
  // Not the one that was computed more often.
  const short = [0, 1, 2].flatMap((i) => computed(s, [node(9, "ADD", "x", weight("w"))], 200 + 20 * i));
  const { path, table, notes } = seen([...computed(s, diamond), ...computed(s, diamond, 100, 2), ...short]);
  assert.deepEqual(path, {
    times: 2,
    graphNs: 54 * MS,
    graphNodes: 4,
    ns: 46.5 * MS,
    nodes: 3,
    layers: [0],
    operators: [{ name: "MUL_MAT", nodes: 1, ns: 30 * MS }, { name: "RMS_NORM", nodes: 1, ns: 15 * MS }, { name: "ADD", nodes: 1, ns: 1.5 * MS }],
    unknownSources: 1,
    notKept: 0,
  });
  assert.equal(table!.title, "Critical path of the graph that took the most time, computed 2 times, layer 0");
  assert.deepEqual(table!.rows, [
    ["MUL_MAT", 1, 30 * MS, 30 / 54],
    ["RMS_NORM", 1, 15 * MS, 15 / 54],
    ["ADD", 1, 1.5 * MS, 1.5 / 54],
    ["beside it", 1, 7.5 * MS, 7.5 / 54],
  ]);
  assert.deepEqual(notes, ["Who computes 1 source of this graph is not known: its critical path may be longer."]);
});

Deno.test("critical path: the layers that it passes through, and operators beyond three together", () => {
  const s = new TestSpans();
  const ops = ["GET_ROWS", "RMS_NORM", "MUL_MAT", "ROPE", "SOFT_MAX", "ADD"];
  const layers = [undefined, 0, 1, 2, 4, undefined];
  const chain = ops.map((op, i): GraphNode => ({ ...node(i + 1, op, `t${i}`, i === 0 ? weight("w") : from(i, `t${i - 1}`)), layer: layers[i] }));
  const beside = node(20, "MUL_MAT", "beside", from(1, "t0"));
  const nodes = [...chain.slice(0, 2), beside, ...chain.slice(2)];
  const lengths = [1, 2, 3, 8, 5, 6, 7];
  let at = 0;
  const slices = nodes.map((node, i) => ({ ...s.op(node.op, at, at += lengths[i]!), node }));
  const { path, table, notes } = seen([...slices, s.graph(0, at, nodes.length)]);
  assert.deepEqual([path!.nodes, path!.ns, path!.layers], [6, 29 * MS, [0, 1, 2, 4]]);
  assert.equal(table!.title, "Critical path of the graph that took the most time, computed 1 time, layers 0–2, 4");
  assert.deepEqual(table!.rows.map((row) => row.slice(0, 3)), [
    ["MUL_MAT", 1, 8 * MS],
    ["ADD", 1, 7 * MS],
    ["SOFT_MAX", 1, 6 * MS],
    ["others on it", 3, 8 * MS],
    ["beside it", 1, 3 * MS],
  ]);
  assert.deepEqual(notes, []);
});

Deno.test("critical path: who reads what others have written into waits for the last of these", () => {
  const cache = { ...weight("cache_k_l0 (view)"), root: 50 };
  const path = (nodes: readonly GraphNode[], ...lengths: readonly number[]) => {
    const edges = edgesOf(nodes);
    assert.ok(edges.every(({ from, source }) => source.root !== 50 || from === undefined), "drawn are sources alone");
    return criticalPath({ nodes, edges, times: 1, ns: [...lengths] });
  };
  const product = node(1, "MUL_MAT", "k", weight("w"));
  const attention = node(3, "FLASH_ATTN_EXT", "attention", weight("q"), cache);
  const stored = { ...node(2, "SET_ROWS", "cache_k_l0 (view)", from(1, "k"), weight("rows"), cache), into: 50 };
  assert.deepEqual(path([product, stored, attention], 5, 3, 2), { nodes: [0, 1, 2], ns: 10 });
  assert.deepEqual(path([attention, product, stored], 2, 5, 3), { nodes: [1, 2], ns: 8 }, "it was read before");
  const copied = { ...node(2, "CPY", "cache_k_l0 (copy of k)", from(1, "k"), cache), into: 50 };
  assert.deepEqual(path([product, copied, attention], 5, 3, 2), { nodes: [0, 1, 2], ns: 10 });
  // In versions of 2025 that do not name what they write into, too.
  const unnamed = { ...node(2, "SET_ROWS", "cache_k_l0 (view)", from(1, "k"), weight("rows")), into: 50 };
  assert.deepEqual(path([product, unnamed, attention], 5, 3, 2), { nodes: [0, 1, 2], ns: 10 });
});

Deno.test("critical path: who writes into a part of a memory, or over what is in it, waits for who wrote there last, and who reads it for that", () => {
  const path = (nodes: readonly GraphNode[], ...ns: readonly number[]) => criticalPath({ nodes, edges: edgesOf(nodes), times: 1, ns: [...ns] });
  // A mask of minus infinity, zeros in the chosen rows of it, and what it bounds: all in the memory of the first.
  const mask = [
    node(10, "FILL", "mask", weight("logits")),
    { ...node(11, "SET_ROWS", "mask (view)", weight("zeros"), weight("chosen")), into: 10 },
    { ...node(12, "CLAMP", "mask (view)", from(10, "mask (view)")), into: 10 },
    node(13, "ADD", "masked", weight("logits"), from(10, "mask (view)")),
    node(14, "MUL", "beside", weight("logits"), weight("logits")),
  ];
  assert.deepEqual(path(mask, 1, 4, 2, 3, 9), { nodes: [0, 1, 2, 3], ns: 10 });
  // Computed again, it is what nobody has written into.
  const again = [...mask.slice(0, 2), node(10, "FILL", "mask", weight("logits")), mask[3]!];
  assert.deepEqual(path(again, 1, 4, 2, 5), { nodes: [2, 3], ns: 7 });
  // A CLAMP in memory of its own has written nowhere else.
  const bounded = [node(1, "SUM_ROWS", "sum", weight("w")), node(2, "CLAMP", "bounded", from(1, "sum")), node(3, "DIV", "d", from(1, "sum"))];
  assert.deepEqual(path(bounded, 1, 4, 2), { nodes: [0, 1], ns: 5 });
});

Deno.test("critical path: an operator that others were fused with is named as its slices are, apart from one that was computed alone", () => {
  const fused = { ...node(2, "ADD", "b", from(1, "a")), label: "ADD + RMS_NORM + MUL" };
  const nodes = [node(1, "ADD", "a", weight("w")), fused, node(3, "MUL_MAT", "c", weight("w")), node(4, "MUL_MAT", "d", from(2, "b"), from(3, "c"))];
  const { path, table } = seen(computed(new TestSpans(), nodes));
  const names = ["ADD + RMS_NORM + MUL", "ADD", "MUL_MAT"];
  assert.deepEqual(path!.operators, names.map((name, i) => ({ name, nodes: 1, ns: [20, 10, 1][i]! * MS })));
  assert.deepEqual(table!.rows.map(([name]) => name), [...names, "beside it"]);
});

Deno.test("critical path: nothing is said where each node waits for the one before, or none for any, nor of a graph that was not seen whole", () => {
  const s = new TestSpans();
  const chain = seen(computed(s, diamond.slice(0, 2)));
  assert.equal(chain.path!.nodes, 2);
  assert.equal(chain.table, undefined);
  const apart = seen(computed(s, [1, 2, 3].map((i) => node(i, "ADD", `x${i}`, weight("w")))));
  assert.equal(apart.path!.nodes, 1);
  assert.equal(apart.table, undefined);
  const ops = computed(s, diamond).slice(0, -1);
  assert.equal(seen([...ops, s.graph(0, 36, 4, true)]).path, null);
  assert.equal(seen([s.op("ADD", 0, 1), s.graph(0, 1)]).path, null);
});

Deno.test("critical path: the time at which llmprof held the process is no node's", () => {
  const s = new TestSpans();
  const { path } = seen([s.stop(12, 27), ...computed(s, diamond)]);
  assert.deepEqual([path!.ns, path!.nodes], [16 * MS, 3]);
});
