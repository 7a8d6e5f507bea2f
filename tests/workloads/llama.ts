import type { GgufTensor, GgufValue } from "./gguf.ts";
import type { Shape } from "./shapes.ts";

/** The tensors that llama.cpp's `llama` architecture looks for, in the order in which they are written. */
export function llamaTensors(shape: Shape): GgufTensor[] {
  const { embedding, ffn, vocabulary, experts } = shape;
  const kv = embedding / shape.heads * shape.kvHeads;
  const matrix = (name: string, ...extents: number[]): GgufTensor => ({ name: `${name}.weight`, extents, type: shape.weights });
  const f32 = (name: string, ...extents: number[]): GgufTensor => ({ name: `${name}.weight`, extents, type: "f32" });
  // Blocks of four bits cannot hold a single number among zeros.
  const words = shape.router === "known" ? f32 : matrix;
  const tensors = [words("token_embd", embedding, vocabulary), f32("output_norm", embedding)];
  if (!shape.tied) tensors.push(matrix("output", embedding, vocabulary));
  for (let layer = 0; layer < shape.layers; layer++) {
    const at = `blk.${layer}`;
    tensors.push(
      f32(`${at}.attn_norm`, embedding),
      matrix(`${at}.attn_q`, embedding, embedding),
      matrix(`${at}.attn_k`, embedding, kv),
      matrix(`${at}.attn_v`, embedding, kv),
      matrix(`${at}.attn_output`, embedding, embedding),
      f32(`${at}.ffn_norm`, embedding),
    );
    if (experts === 0) {
      tensors.push(matrix(`${at}.ffn_gate`, embedding, ffn), matrix(`${at}.ffn_up`, embedding, ffn), matrix(`${at}.ffn_down`, ffn, embedding));
    } else {
      tensors.push(
        f32(`${at}.ffn_gate_inp`, embedding, experts),
        matrix(`${at}.ffn_gate_exps`, embedding, ffn, experts),
        matrix(`${at}.ffn_up_exps`, embedding, ffn, experts),
        matrix(`${at}.ffn_down_exps`, ffn, embedding, experts),
      );
    }
  }
  return tensors;
}

/** The keys without which llama.cpp refuses the file, found by trying. */
export function llamaValues(shape: Shape): Record<string, GgufValue> {
  const experts: Record<string, GgufValue> = shape.experts === 0 ? {} : {
    "llama.expert_count": { u32: shape.experts },
    "llama.expert_used_count": { u32: shape.expertsUsed },
  };
  return {
    "general.architecture": { text: "llama" },
    "general.name": { text: `${shape.router === "known" ? "known router" : "random weights"} of seed ${shape.seed}` },
    "llama.context_length": { u32: 4096 },
    "llama.embedding_length": { u32: shape.embedding },
    "llama.block_count": { u32: shape.layers },
    "llama.feed_forward_length": { u32: shape.ffn },
    "llama.vocab_size": { u32: shape.vocabulary },
    "llama.attention.head_count": { u32: shape.heads },
    "llama.attention.head_count_kv": { u32: shape.kvHeads },
    "llama.attention.layer_norm_rms_epsilon": { f32: 1e-5 },
    "llama.rope.dimension_count": { u32: shape.embedding / shape.heads },
    ...experts,
    "tokenizer.ggml.model": { text: "llama" },
    ...vocabulary(shape.vocabulary),
    "tokenizer.ggml.bos_token_id": { u32: 1 },
    "tokenizer.ggml.eos_token_id": { u32: 2 },
    "tokenizer.ggml.unknown_token_id": { u32: 0 },
  };
}

/** Three control tokens, the 256 single bytes that a SentencePiece vocabulary must have, and words up to the size asked for. */
function vocabulary(size: number): Record<string, GgufValue> {
  const tokens = ["<unk>", "<s>", "</s>"];
  const types = [2, 3, 3];
  for (let byte = 0; byte < 256; byte++) {
    tokens.push(`<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);
    types.push(6);
  }
  while (tokens.length < size) {
    tokens.push(`▁w${tokens.length}`);
    types.push(1);
  }
  return {
    "tokenizer.ggml.tokens": { texts: tokens },
    "tokenizer.ggml.scores": { f32s: tokens.map((_, index) => -index) },
    "tokenizer.ggml.token_type": { i32s: types },
  };
}
