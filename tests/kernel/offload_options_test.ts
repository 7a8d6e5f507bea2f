/** A model that is on Vulkan whole but for what an option keeps in the host's memory: what llmprof says of that is done, until it says no more. */
import assert from "node:assert/strict";
import { presentOffload } from "../../lib/analysis/offload_present.ts";
import { quantity } from "../../lib/events/quantity.ts";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { built } from "../setup/programs.ts";
import { engineCommand } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { shapes } from "../workloads/shapes.ts";
import { bytesOf, CELLS, copied } from "./copied_bytes.ts";
import { startLlmprof, summaryOf } from "./live_run.ts";

const needs = { engine: true, vulkan: true, gcc: true };
const shape = shapes.tiny, prompt = 8, tokens = 12, calls = tokens - 1;
/** With the output's. */
const gpuLayers = shape.layers + 1;
/** Of a token, from one part of the graph to another. */
const row = 4 * shape.embedding;
const whole = bytesOf(shape, gpuLayers, 1, calls);

/** What llmprof sees with these options (see kept.c), and says. */
async function looked(bpftrace: string, options: Readonly<Record<string, string>>) {
  using folder = temporary();
  const set = Object.entries({ LD_PRELOAD: built.kept, ...options }).map(([name, value]) => `${name}=${value}`);
  const target = { argv: ["env", ...set, ...engineCommand({ model: model("tiny"), prompt, tokens, gpuLayers })] };
  await using llmprof = startLlmprof("operators", { bpftrace, folder, formats: [], flags: ["--no-output"], target });
  const { result } = summaryOf("operators", await llmprof.finished());
  const offload = result.offload!;
  const advice = presentOffload(offload, result).flatMap((view) => view.type === "note" ? [view.text] : []).join("\n");
  const products = offload.elsewhere.filter(({ operator, device }) => operator === "MUL_MAT" && device === "CPU");
  return { bytes: copied(offload, "decode"), advice, products: products.reduce((sum, { nodes }) => sum + nodes, 0) };
}

const sum = (bytes: Readonly<Record<string, number>>) => Object.values(bytes).reduce((sum, one) => sum + one, 0);

sampledTest(
  1,
  "offload: weights that the CPU keeps (-ot) are given to the device as llmprof says: less is copied each time",
  needs,
  async ({ path }) => {
    const found: number[] = [];
    for (let kept = shape.layers;; kept--) {
      const layers = Array.from({ length: kept }, (_, layer) => layer).join("|");
      const pattern: Readonly<Record<string, string>> = kept > 0 ? { KEPT_WEIGHTS: `blk\\.(${layers})\\.ffn_(gate|up|down)` } : {};
      const { bytes, advice, products } = await looked(path, pattern);
      // For each of them the norm's result goes to the CPU, and what three products make of it comes back.
      const handed = kept > 0 && { "ffn_norm from Vulkan0": kept * row * calls, "ffn_out to Vulkan0": kept * row * calls };
      assert.deepEqual(bytes, { ...whole, ...handed });
      assert.equal(products, 3 * kept);
      found.push(sum(bytes));
      const saysFewer = /The CPU multiplies weights of layers that are on another device \(--n-cpu-moe, -ot\): fewer of them/.test(advice);
      assert.equal(saysFewer, kept > 0, advice);
      if (!saysFewer) break;
    }
    assert.deepEqual(found, found.toSorted((a, b) => b - a));
    assert.equal(found.length, shape.layers + 1);
  },
  true,
);

sampledTest(
  1,
  "offload: the cache in the host's memory (-nkvo) is given to the device as llmprof says: it is copied no more",
  needs,
  async ({ path }) => {
    const kept = await looked(path, { KEPT_CACHE: "1" });
    const { "attn_inp_k_idxs to Vulkan0": _k, "attn_inp_v_idxs to Vulkan0": _v, ...others } = whole;
    // Keys and values of a token go to the host, and those of all cells, of two bytes each, come for it.
    const token = shape.layers * row * calls, cells = shape.layers * CELLS * 2 * shape.embedding * calls;
    const handed = { "Kcur (view) from Vulkan0": token, "Vcur (view) from Vulkan0": token };
    const cache = { "cache_k (view) (permuted) to Vulkan0": cells, "cache_v (view) (permuted) to Vulkan0": cells };
    assert.deepEqual(kept.bytes, { ...others, ...handed, ...cache });
    const each = quantity(2 * cells / calls, "bytes").replace(".", "\\.");
    assert.match(kept.advice, new RegExp(`^${each} of keys and values are copied to Vulkan0 for each token: .*\\(-nkvo\\)\\.$`, "m"));
    const given = await looked(path, {});
    assert.deepEqual(given.bytes, whole);
    assert.doesNotMatch(given.advice, /-nkvo/);
    assert.ok(sum(given.bytes) < sum(kept.bytes));
  },
  true,
);
