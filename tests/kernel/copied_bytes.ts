/** What is copied between the CPU and a device, as llmprof tells it and as the model's shape says. */
import type { OffloadResult } from "../../lib/analysis/offload_schema.ts";
import type { Shape } from "../workloads/shapes.ts";

/** Bytes by kind of tensor in calls of a phase. */
export function copied({ copies }: OffloadResult, phase: "prefill" | "decode"): Record<string, number> {
  const moved: Record<string, number> = {};
  for (const { way, device, name, [phase]: { calls, bytes } } of copies) {
    const key = `${name} ${way} ${device}`;
    if (calls > 0) moved[key] = (moved[key] ?? 0) + bytes;
  }
  return moved;
}

/** Cells of the cache are looked at in multiples of this, and a mask has a number of two bytes for each. */
export const CELLS = 256;

/**
 * What has to be copied for `calls` batches of `tokens` tokens, of which the last is asked for: what the last layer on the CPU hands over, where the tokens
 * are, and logits back.
 */
export function bytesOf(
  { embedding, layers, vocabulary, expertsUsed }: Shape,
  gpuLayers: number,
  tokens: number,
  calls: number,
): Record<string, number> {
  const onlyOutput = gpuLayers === 1, all = gpuLayers === layers + 1;
  const row = embedding * 4;
  // The last layer of all leaves out the tokens that nobody asked for.
  const rows = onlyOutput ? 1 : tokens;
  // Weighing what experts say needs no weights, and is already done by the device.
  const chosen = { ffn_moe_down: expertsUsed * row, "ffn_moe_weights_norm (reshaped)": expertsUsed * 4, ffn_inp: row };
  const handed = all ? { embd: row } : expertsUsed > 0 ? chosen : { ffn_out: row, ffn_inp: row };
  const placed = { inp_pos: 4 * tokens, attn_inp_k_idxs: 8 * tokens, attn_inp_v_idxs: 8 * tokens, attn_inp_kq_mask: 2 * CELLS * tokens, out_ids: 4 };
  const to = { ...Object.fromEntries(Object.entries(handed).map(([name, bytes]) => [name, rows * bytes])), ...!onlyOutput && placed };
  return Object.fromEntries([
    ...Object.entries(to).map(([name, bytes]) => [`${name} to Vulkan0`, bytes * calls]),
    ["result_output from Vulkan0", vocabulary * 4 * calls],
  ]);
}
