import type { GgufTensor } from "./gguf.ts";
import { tensorBytes } from "./gguf.ts";
import type { Shape } from "./shapes.ts";

/**
 * A mixture whose choices are known beforehand. Each token is one number among zeros, and what layers add to it is zero, so every router sees the token
 * itself; its weights for that place order the experts, beginning with another one in each layer.
 */
export function routedContent({ name, extents, type }: GgufTensor, shape: Shape): Uint8Array | undefined {
  const { embedding, experts, vocabulary } = shape;
  if (/attn_output\.|ffn_down_exps\./.test(name)) return new Uint8Array(tensorBytes({ name, extents, type }));
  if (name.startsWith("token_embd.")) {
    const numbers = new Float32Array(embedding * vocabulary);
    for (let token = 0; token < vocabulary; token++) numbers[token * embedding + token % embedding] = 1;
    return new Uint8Array(numbers.buffer);
  }
  if (!name.includes("ffn_gate_inp.")) return undefined;
  const layer = Number(/^blk\.(\d+)\./.exec(name)![1]);
  const numbers = new Float32Array(embedding * experts);
  for (let place = 0; place < embedding; place++) {
    // Apart enough for softmax to tell them apart, and near enough for none of the first to vanish.
    for (let rank = 0; rank < experts; rank++) numbers[expertOf(rank, layer, place, experts) * embedding + place] = -rank / 64;
  }
  return new Uint8Array(numbers.buffer);
}

/** Experts that the token goes to in the layer, the first one first. */
export function expertsOf(token: number, layer: number, { embedding, experts, expertsUsed }: Shape): number[] {
  return Array.from({ length: expertsUsed }, (_, rank) => expertOf(rank, layer, token % embedding, experts));
}

/** Steps that share no divisor with the number of experts, so that every rank is another one. */
function expertOf(rank: number, layer: number, place: number, experts: number): number {
  return (7 * layer + 5 * place + 3 * rank) % experts;
}
