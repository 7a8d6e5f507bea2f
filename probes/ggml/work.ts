export const PRODUCTS = "matrix products";
export const QUANTISING = "quantising", DEQUANTISING = "dequantising";
export const WAITING = "waiting for other workers";
/** Functions whose name tells of no work. */
export const OTHER_CODE = "other code";

/** Several operators share these functions, so that a sample in one of them is of none in particular. */
const SHARED: readonly (readonly [RegExp, string])[] = [
  [/barrier|poll_for_work|check_for_work|graph_compute_secondary_thread/, WAITING],
  [/dequantize_/, DEQUANTISING],
  [/quantize_|quant_pack/, QUANTISING],
  [/vec_dot|gemm|gemv|mul_mat|matmul|tinyblas|repack/i, PRODUCTS],
];
/** Operators that go by another name inside. */
const INSIDE: readonly (readonly [RegExp, string])[] = [
  [/(?:swi|ge|re)glu/, "GLU"],
  [/silu|gelu|relu|sigmoid|tanh|hardswish|softplus/, "UNARY"],
  [/rope/, "ROPE"],
];

/**
 * What a function of ggml's CPU backend works on, as far as its name tells: an operator, or a group of these that share their functions. Null where
 * it does not. `operators`: names of the library itself, such as `RMS_NORM`.
 */
export function workOf(name: string, operators: readonly string[]): string | null {
  const shared = SHARED.find(([pattern]) => pattern.test(name));
  if (shared) return shared[1];
  // `ggml_compute_forward_rms_norm_f32`, `ggml_vec_soft_max_f32`, and `apply_binary_op<op_add …>` as a compiler spells it.
  const inside = /(?:compute_forward_|ggml_vec_|\dop_)(\w+)/.exec(name)?.[1] ?? "";
  const longest = operators.filter((operator) => isBegun(inside, operator.toLowerCase())).sort((a, b) => b.length - a.length)[0];
  return longest ?? INSIDE.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

/** Whether a name begins with the words of another: `add_f32` with `add`, and `add1` not. */
function isBegun(name: string, words: string): boolean {
  return name.startsWith(words) && !/^[a-z0-9]/.test(name.slice(words.length).replace(/^(?:ff|f32|f16)/, ""));
}
