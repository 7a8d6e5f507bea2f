import assert from "node:assert/strict";
import { tensorKind } from "./tensor_kind.ts";

Deno.test("layers and numbers of nameless tensors are taken off", () => {
  const kinds = {
    "ffn_gate-3": "ffn_gate",
    "Kcur-11 (reshaped)": "Kcur (reshaped)",
    "cache_k_l3 (view)": "cache_k (view)",
    "blk.3.attn_q.weight": "blk.attn_q.weight",
    "node_512": "node",
    "leaf_7": "leaf",
    "result_output": "result_output",
    "ffn_moe_topk-2": "ffn_moe_topk",
  };
  for (const [name, kind] of Object.entries(kinds)) assert.equal(tensorKind(name), kind);
});
