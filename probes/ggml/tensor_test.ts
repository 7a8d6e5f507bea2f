import assert from "node:assert/strict";
import { describe, judge } from "./tensor.ts";

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

Deno.test("tensor: what is none is not taken for one", () => {
  const fields = { op: 1, type: 2, ne0: 64, ne1: 32, ne2: 1, ne3: 1, name: "ffn_gate-3" };
  const judged = (more: Partial<Record<keyof typeof fields, number | string>>, operators = 90) =>
    judge([4096, ...Object.values({ ...fields, ...more })], operators);
  assert.equal(judged({}), "tensor");
  assert.equal(judged({ name: "" }), "tensor");
  assert.equal(judged({ op: 89 }), "tensor");
  assert.equal(judged({ op: 200 }, 0), "tensor");
  assert.equal(judged({ op: 0, type: 0, ne0: 0, ne1: 0, ne2: 0, ne3: 0, name: "" }), "unread");
  const strange = [{ op: 0 }, { op: 90 }, { op: -5 }, { type: 128 }, { type: -1 }, { ne0: 0 }, { ne3: -1 }, { ne1: 140737488355328 * 2 }, {
    name: "a\u0001",
  }];
  for (const more of strange) assert.equal(judged(more), "strange", JSON.stringify(more));
});
