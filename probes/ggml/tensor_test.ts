import assert from "node:assert/strict";
import { describe } from "./tensor.ts";

Deno.test("tensor: the shape as ggml counts it, without ones at the end but with the second dimension", () => {
  const shape = (...ne: number[]) => describe([0, 1, 0, ...ne, "x"], []).shape;
  assert.equal(shape(64, 1, 1, 1), "64×1");
  assert.equal(shape(64, 32, 8, 1), "64×32×8");
  assert.equal(shape(64, 1, 1, 2), "64×1×1×2");
});

Deno.test("tensor: the layer that llama.cpp put into the name", () => {
  const layer = (name: string) => describe([0, 1, 0, 1, 1, 1, 1, name], []).layer;
  assert.equal(layer("ffn_gate-3"), 3);
  assert.equal(layer("Kcur-12 (reshaped)"), 12);
  assert.equal(layer("cache_k_l7 (view)"), 7);
  // A name that two nodes were fused under keeps the first one's.
  assert.equal(layer("attn_norm-5 (view) (copy)"), 5);
  for (const name of ["result_output", "inp_embd", "", "leaf_9", "blk.3.weight", "x-3b"]) assert.equal(layer(name), undefined, name);
});
