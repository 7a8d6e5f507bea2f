import assert from "node:assert/strict";
import { Decoding } from "../../tests/harness/decoding.ts";
import { graph } from "./graph.ts";
import { ops } from "./ops.ts";

const GATE = 1, UP = 2, IDS = 7;

/** A layer of eight experts, or more, whose first two products take the same choice, in a graph that has begun. */
function decoding(op = 1, ne2 = 8): Decoding {
  const d = new Decoding(ops, graph);
  d.fact(0, { fact: "table", symbol: "GGML_OP_NAME", file: "libggml-base.so", names: ["NONE", "MUL_MAT_ID", "ADD_ID"] });
  for (const [address, name] of [[GATE, "ffn_moe_gate-3"], [UP, "ffn_moe_up-3"]] as const) {
    d.event(1, "ggml/ops.source", { index: 0, root: 9, root_op: 0, type: 2, ne0: 64, ne1: 64, ne2, ne3: 1, name: "blk.3.ffn_gate_exps.weight" });
    d.event(1, "ggml/ops.tensor", { address, op, ne0: 64, ne1: 2, ne2: 1, ne3: 1, name });
  }
  begin(d, 10);
  return d;
}

function begin(d: Decoding, at: number): void {
  d.event(at, "ggml/graph.graph", { nodes: 2, threads: 1 });
  d.event(at, "ggml/ops.worker", { worker: 0 });
}

function chosen(d: Decoding, at: number, tokens: number, part: number, experts: readonly number[], used = experts.length): void {
  const pairs = [0, 1, 2, 3].map((pair) => (experts[2 * pair] ?? 0) + 2 ** 32 * (experts[2 * pair + 1] ?? 0));
  const [pair0, pair1, pair2, pair3] = pairs as [number, number, number, number];
  d.event(at, "ggml/ops.chosen", { ids: IDS, tokens, used, part, pair0, pair1, pair2, pair3 });
}

/** Experts, of all that was told. */
function experts(d: Decoding, at = 90): string[] {
  return d.end(at).filter((line) => line.includes("ggml.experts")).map((line) => line.replace('100 <worker 0> ggml.experts "experts" ', ""));
}

Deno.test("experts: those of a batch are one instant, told when its last token is", () => {
  const d = decoding();
  d.event(11, "ggml/ops.op", { tensor: GATE });
  chosen(d, 11, 2, 0, [5, 2]);
  assert.deepEqual(d.told(), []);
  chosen(d, 11, 2, 1, [2, 7]);
  assert.deepEqual(d.told(), ['100 <worker 0> ggml.experts "experts" 11 layer=3 experts=8 tokens=2 used=2 chosen=2×2 5 7']);
});

Deno.test("experts: more than eight of a token come in several records", () => {
  const d = decoding(0);
  d.event(11, "ggml/ops.op", { tensor: 99 });
  chosen(d, 11, 1, 0, [0, 1, 2, 3, 4, 5, 6, 7], 10);
  chosen(d, 11, 1, 1, [8, 9], 10);
  assert.deepEqual(experts(d), ["11 tokens=1 used=10 chosen=0 1 2 3 4 5 6 7 8 9"]);
});

Deno.test("experts: of more than there are anywhere it is not said how many there are", () => {
  for (const [there, told] of [[65_536, " experts=65536"], [65_537, ""], [2 ** 48 - 1, ""]] as const) {
    const d = decoding(1, there);
    d.event(11, "ggml/ops.op", { tensor: GATE });
    chosen(d, 11, 1, 0, [5]);
    assert.deepEqual(d.told(), [`100 <worker 0> ggml.experts "experts" 11 layer=3${told} tokens=1 used=1 chosen=5`]);
  }
});

Deno.test("experts: a choice that several products share counts once in a graph, and again in the next", () => {
  const d = decoding();
  for (const at of [11, 31]) {
    d.event(at, "ggml/ops.op", { tensor: GATE });
    chosen(d, at, 1, 0, [5, 2]);
    d.event(at + 1, "ggml/ops.op", { tensor: UP });
    chosen(d, at + 1, 1, 0, [5, 2]);
    d.event(at + 5, "ggml/graph.graph_return");
    begin(d, at + 10);
  }
  assert.deepEqual(experts(d), ["11 layer=3 experts=8 tokens=1 used=2 chosen=2 5", "31 layer=3 experts=8 tokens=1 used=2 chosen=2 5"]);
});

Deno.test("experts: numbers that no expert has, and tokens that were not told, are unread", () => {
  const d = decoding();
  d.event(11, "ggml/ops.op", { tensor: GATE });
  chosen(d, 11, 3, 0, [5, 8]);
  chosen(d, 11, 3, 1, [4_000_000_000, 0]);
  d.event(20, "ggml/graph.graph_return");
  assert.deepEqual(experts(d), ["11 layer=3 experts=8 tokens=3 used=2 chosen=0 5 unread=4"]);
});

Deno.test("experts: a choice of more tokens than are read comes before its own products", () => {
  const d = decoding();
  d.event(11, "ggml/ops.op", { tensor: GATE });
  chosen(d, 11, 3, 0, [5, 2]);
  d.event(20, "ggml/ops.op", { tensor: UP });
  d.event(30, "ggml/ops.op", { tensor: 99 });
  d.event(40, "ggml/graph.graph_return");
  const rows = d.end(90).map((line) => /^100 <worker 0> (.+" [\d–]+)/.exec(line)?.[1]).filter((row) => row !== undefined);
  assert.deepEqual(rows, [
    'ggml.experts "experts" 11',
    'ggml.op "MUL_MAT_ID" 11–20',
    'ggml.op "MUL_MAT_ID" 20–30',
    'ggml.op "unknown operator" 30–40',
  ]);
});

Deno.test("experts: another operator with numbers in its third source has none", () => {
  const d = decoding(2);
  d.event(11, "ggml/ops.op", { tensor: GATE });
  chosen(d, 11, 1, 0, [5, 2]);
  assert.deepEqual(experts(d), []);
});

Deno.test("experts: how many tokens went to each over time, ten times a second and at the end", () => {
  const d = decoding();
  const graph = (at: number, experts: readonly number[]) => {
    d.event(at, "ggml/ops.op", { tensor: GATE });
    chosen(d, at, 1, 0, experts);
    d.event(at + 1, "ggml/graph.graph_return");
    begin(d, at + 2);
  };
  graph(11, [5, 2]);
  graph(1_000_000, [5, 7]);
  graph(100_000_012, [0, 5]);
  graph(150_000_000, [7, 1]);
  const counters = d.end(160_000_000).filter((line) => line.includes(" = ")).map((line) => line.replace("100 <", "").replace(">", ""));
  assert.deepEqual(counters, [
    "expert 2 = 1 at 12",
    "expert 5 = 1 at 12",
    "expert 0 = 1 at 100000013",
    "expert 5 = 3 at 100000013",
    "expert 7 = 1 at 100000013",
    "expert 1 = 1 at 160000000",
    "expert 7 = 2 at 160000000",
  ]);
});
