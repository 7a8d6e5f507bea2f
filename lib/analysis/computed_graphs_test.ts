import assert from "node:assert/strict";
import type { GraphNode, GraphSource } from "../events/span.ts";
import { ComputedGraphs, edgesOf } from "./computed_graphs.ts";
import { from, node, weight } from "../../tests/harness/graphs.ts";

/** `a → b`, of what is computed and of who is not known. */
function arrows(nodes: readonly GraphNode[]): string[] {
  return edgesOf(nodes).map((edge) => `${edge.from === undefined ? edge.source.name : nodes[edge.from]!.op} → ${nodes[edge.to]!.op}`);
}

/** A tensor at an address of its own that has the memory of the one at `root`. */
const inMemoryOf = (root: number, address: number, name: string): GraphSource => ({ ...from(root, name), address });

Deno.test("graph: what is computed in place is what its successors name, by itself and through views of it, and not whose memory it has", () => {
  const nodes = [
    node(1, "SUM_ROWS", "sum", weight("w")),
    { ...node(2, "CLAMP", "sum (view)", from(1, "sum")), into: 1 },
    node(3, "DIV", "by itself", inMemoryOf(1, 2, "sum (view)")),
    node(4, "MUL", "reshaped", inMemoryOf(1, 20, "sum (view) (reshaped)")),
    // Behind a norm that was fused with its product.
    node(5, "MUL_MAT", "normed", from(60, "norm", 61, 1)),
    node(6, "ADD", "whose memory it has", from(1, "sum")),
  ];
  assert.deepEqual(arrows(nodes), ["w → SUM_ROWS", "SUM_ROWS → CLAMP", "CLAMP → DIV", "CLAMP → MUL", "CLAMP → MUL_MAT", "SUM_ROWS → ADD"]);
});

Deno.test("graph: an operator that shows a memory is what its successors name where the engine calls it as any other", () => {
  const nodes = [
    node(1, "MUL_MAT", "Q", weight("w")),
    node(2, "RESHAPE", "Q (reshaped)", from(1, "Q")),
    node(3, "ROPE", "Q", inMemoryOf(1, 2, "Q (reshaped)")),
    node(4, "ADD", "v", inMemoryOf(1, 20, "Q (view)")),
  ];
  assert.deepEqual(arrows(nodes), ["w → MUL_MAT", "MUL_MAT → RESHAPE", "RESHAPE → ROPE", "MUL_MAT → ADD"]);
});

Deno.test("graph: who reads what was written into a cache, as its source, is drawn behind that; who reads the cache, behind nobody", () => {
  const cache = { ...weight("cache"), root: 50 };
  const nodes = [
    { ...node(2, "SET_ROWS", "cache (view)", weight("k"), weight("rows"), { ...cache, address: 50 }), into: 50 },
    node(3, "SCALE", "written", { ...cache, address: 2 }),
    node(4, "FLASH_ATTN_EXT", "attention", { ...cache, address: 51 }),
  ];
  assert.deepEqual(arrows(nodes), ["k → SET_ROWS", "rows → SET_ROWS", "cache → SET_ROWS", "SET_ROWS → SCALE", "cache → FLASH_ATTN_EXT"]);
});

Deno.test("graph: one that is built again in place, or from another tensor with the same memory and name, is another one", () => {
  const built = (into?: number, address = 1) => [
    node(1, "ADD", "a", weight("w")),
    { ...node(2, "SCALE", "b", inMemoryOf(1, address, "a")), ...(into && { into }) },
  ];
  const graphs = new ComputedGraphs();
  for (const nodes of [built(), built(), built(1), built(1, 2)]) graphs.add(nodes, [1, 1]);
  assert.deepEqual(graphs.graphs.map(({ times }) => times), [2, 1, 1]);
});

Deno.test("graph: of more than are kept, one that comes again and again stays, and prompts that are computed once replace one another", () => {
  const graphs = new ComputedGraphs(), step = [node(1, "ADD", "step", weight("w"))];
  const prompt = (i: number) => graphs.add([node(1, "ADD", `prompt ${i}`, weight("w"))], [100]);
  for (let i = 0; i < 64; i++) prompt(i);
  for (let i = 0; i < 2000; i++) {
    graphs.add(step, [1]);
    if (i % 100 === 0) prompt(64 + i);
  }
  const { longest, more } = graphs;
  assert.deepEqual([longest!.nodes, longest!.times, longest!.ns], [step, 2000, [2000]]);
  assert.deepEqual([graphs.graphs.length, more, graphs.computed], [64, 21, 64 + 20 + 2000]);
});

Deno.test("graph: of those that come back each time that a sequence grows, every time is known of each that is kept", () => {
  const graphs = new ComputedGraphs();
  const step = (size: number) => [node(1, "ADD", "step", weight("w")), { ...node(2, "MUL_MAT", "kq", from(1, "step")), shape: `64×${size}` }];
  for (let request = 0; request < 20; request++) {
    for (let size = 1; size <= 96; size++) {
      for (let token = 0; token < 4; token++) graphs.add(step(size), [10, size]);
    }
  }
  assert.deepEqual(graphs.graphs.map(({ times }) => times), Array(64).fill(80));
  // The larger ones take longer.
  assert.deepEqual(new Set(graphs.graphs.map(({ ns }) => ns[1]! / 80)), new Set(Array.from({ length: 64 }, (_, i) => 33 + i)));
  assert.deepEqual([graphs.longest!.ns, graphs.more], [[800, 96 * 80], 32 * 80]);
});

Deno.test("graph: one that took long stays beside any number of prompts that are computed once", () => {
  const graphs = new ComputedGraphs(), long = [node(1, "ADD", "long", weight("w"))];
  for (let i = 0; i < 50; i++) graphs.add(long, [10_000]);
  for (let i = 0; i < 20_000; i++) graphs.add([node(1, "ADD", `prompt ${i}`, weight("w"))], [2000 + i % 7]);
  assert.deepEqual([graphs.longest!.nodes, graphs.longest!.ns, graphs.graphs.length], [long, [500_000], 64]);
});
