import assert from "node:assert/strict";
import { describe, fits, judge, sourceOf } from "./tensor.ts";

Deno.test("tensor: the shape as ggml counts it, without ones at the end but with the second dimension", () => {
  const shape = (...ne: number[]) => describe([0, 1, 0, ...ne, "x"], [], []).shape;
  assert.equal(shape(64, 1, 1, 1), "64×1");
  assert.equal(shape(64, 32, 8, 1), "64×32×8");
  assert.equal(shape(64, 1, 1, 2), "64×1×1×2");
});

Deno.test("tensor: the layer that llama.cpp put into the name", () => {
  const layer = (name: string) => describe([0, 1, 0, 1, 1, 1, 1, name], [], []).layer;
  assert.equal(layer("ffn_gate-3"), 3);
  assert.equal(layer("Kcur-12 (reshaped)"), 12);
  assert.equal(layer("cache_k_l7 (view)"), 7);
  // A name that two nodes were fused under keeps the first one's.
  assert.equal(layer("attn_norm-5 (view) (copy)"), 5);
  for (const name of ["result_output", "inp_embd", "", "leaf_9", "blk.3.weight", "x-3b"]) assert.equal(layer(name), undefined, name);
});

Deno.test("tensor: cells of the cache that attention looks at, as one operator or as a product", () => {
  const names = ["NONE", "MUL_MAT", "FLASH_ATTN_EXT", "SET_ROWS"];
  const source = (name: string, ...ne: number[]) => sourceOf([0, 4096, 0, 0, 0, 0, 1, ...ne, name], names);
  const keys = source("cache_k_l7 (view) (permuted)", 64, 512, 8, 1), values = source("cache_v_l7 (view) (permuted)", 64, 512, 8, 1);
  const queries = source("Qcur-7 (permuted)", 64, 1, 8, 1), weights = source("blk.7.attn_q.weight", 512, 512, 1, 1);
  const cells = (op: string, ...sources: typeof keys[]) => describe([0, names.indexOf(op), 0, 64, 1, 1, 1, "x"], sources, names).cells;
  assert.equal(cells("FLASH_ATTN_EXT", queries, keys, values), 512);
  assert.equal(cells("MUL_MAT", keys, queries), 512);
  // Of two sequences with cells of their own.
  assert.equal(cells("MUL_MAT", source("cache_k_l7 (view) (permuted)", 64, 256, 8, 2), queries), 512);
  assert.equal(cells("MUL_MAT", weights, queries), undefined);
  assert.equal(cells("MUL_MAT", values, queries), undefined);
  assert.equal(cells("SET_ROWS", keys, queries), undefined);
});

Deno.test("tensor: what is none is not taken for one", () => {
  const fields = { op: 1, type: 2, ne0: 64, ne1: 32, ne2: 1, ne3: 1, name: "ffn_gate-3" };
  const judged = (more: Partial<Record<keyof typeof fields, number | string>>, operators = 90) =>
    judge([4096, ...Object.values({ ...fields, ...more })], operators);
  assert.equal(judged({}), "tensor");
  assert.equal(judged({ name: "" }), "tensor");
  assert.equal(judged({ op: 89 }), "tensor");
  assert.equal(judged({ ne1: 0 }), "tensor");
  assert.equal(judged({ op: 200 }, 0), "tensor");
  assert.equal(judged({ op: 0, type: 0, ne0: 0, ne1: 0, ne2: 0, ne3: 0, name: "" }), "unread");
  const strange = [{ op: 0 }, { op: 90 }, { op: -5 }, { type: 1024 }, { type: -1 }, { ne0: 0 }, { ne3: -1 }, { ne1: 140737488355328 * 2 }, {
    name: "a\u0001",
  }];
  for (const more of strange) assert.equal(judged(more), "strange", JSON.stringify(more));
});

Deno.test("tensor: sizes of a product are those of its sources, as far as these could be read", () => {
  const names = ["NONE", "MUL_MAT", "MUL_MAT_ID", "ADD"];
  const source = (...ne: number[]) => sourceOf([0, 4096, 0, 0, 0, 0, 1, ...ne, "x"], names);
  const fit = (op: string, ne: number[], ...sources: (ReturnType<typeof source> | undefined)[]) =>
    fits([4096, names.indexOf(op), 0, ...ne, "x"], sources, names);
  // Eight heads that share two of keys.
  const keys = source(64, 512, 2, 1), queries = source(64, 17, 8, 1), expert = source(96, 48, 8, 1);
  assert.equal(fit("MUL_MAT", [512, 17, 8, 1], keys, queries), true);
  assert.equal(fit("MUL_MAT", [512, 17, 8, 1], queries, keys), false);
  assert.equal(fit("MUL_MAT", [512, 17, 8, 1], keys, source(32, 17, 8, 1)), false);
  assert.equal(fit("MUL_MAT", [512, 17, 8, 1], undefined, keys), false);
  assert.equal(fit("MUL_MAT", [512, 17, 8, 1], keys), undefined);
  // Two experts for each of 17 tokens, of which each has one vector for both.
  assert.equal(fit("MUL_MAT_ID", [48, 2, 17, 1], expert, source(96, 1, 17, 1)), true);
  assert.equal(fit("MUL_MAT_ID", [48, 2, 17, 1], expert, source(96, 17, 1, 1)), false);
  // Rows of none, memory that was not read, and what is no product.
  assert.equal(fit("MUL_MAT", [512, 0, 1, 1], source(64, 512, 1, 1), source(64, 0, 1, 1)), undefined);
  assert.equal(fit("MUL_MAT", [512, 17, 8, 1], source(0, 0, 0, 0), queries), undefined);
  assert.equal(fit("ADD", [512, 17, 8, 1], queries, keys), undefined);
});

Deno.test("tensor: sums of what experts say are parts of the last one, which alone llama.cpp has named", () => {
  const names = ["NONE", "MUL", "ADD"];
  const source = (name: string) => sourceOf([1, 4096, 0, 0, 1, 0, 0, 64, 1, 1, 1, name], names);
  const described = (op: number, name: string, ...sources: string[]) => {
    const { part, layer } = describe([8192, op, 0, 64, 1, 1, 1, name], sources.map(source), names);
    return [part, layer];
  };
  const view = "ffn_moe_weighted-3 (view)";
  assert.deepEqual(described(2, "node_71", view, view), ["ffn_moe_out-3", 3]);
  assert.deepEqual(described(2, "node_72", "node_71", view), ["ffn_moe_out-3", 3]);
  // Where weights come before the experts.
  assert.deepEqual(described(2, "node_72", "node_71", "ffn_moe_down-12 (view)"), ["ffn_moe_out-12", 12]);
  assert.deepEqual(described(2, "ffn_moe_out-3", "node_77", view), [undefined, 3]);
  assert.deepEqual(described(1, "node_72", "node_71", view), [undefined, undefined]);
  assert.deepEqual(described(2, "node_90", "node_89", "ffn_shexp-3"), [undefined, undefined]);
});
