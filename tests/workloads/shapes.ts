/** The extents of a generated llama model. Weights are random: only the amount of work is real. */
export interface Shape {
  readonly embedding: number;
  readonly layers: number;
  readonly heads: number;
  /** Heads of keys and values; fewer than `heads` is grouped-query attention. */
  readonly kvHeads: number;
  readonly ffn: number;
  readonly vocabulary: number;
  /** Experts per layer and how many of them a token uses; 0 for a dense model. */
  readonly experts: number;
  readonly expertsUsed: number;
  /** The output matrix is the token embedding: saves its bytes. */
  readonly tied: boolean;
  /** How matrices are kept. */
  readonly weights: "q4_0" | "f32";
  /** Random, or one that sends each token to experts that are known beforehand (router.ts). */
  readonly router: "random" | "known";
  readonly seed: number;
}

const dense = { experts: 0, expertsUsed: 0, tied: false, weights: "q4_0", router: "random", seed: 1 } as const;
const routed = { ...dense, router: "known", embedding: 64, layers: 3, heads: 4, kvHeads: 2, ffn: 32, vocabulary: 512 } as const;

/** The shapes that tests ask for by name. Every extent that a Q4_0 row runs along is a multiple of 32. */
export const shapes = {
  /** 0.1 MB: loads in milliseconds; what is measured on it is only the machinery. */
  tiny: { ...dense, embedding: 64, layers: 2, heads: 4, kvHeads: 4, ffn: 192, vocabulary: 512 },
  /** 114 MB, about 7 ms a token on one thread: the usual subject. */
  small: { ...dense, embedding: 1024, layers: 12, heads: 16, kvHeads: 16, ffn: 4096, vocabulary: 512 },
  /** 640 MB in few and wide layers, so that a feed-forward product of one token takes well over a millisecond on one thread. */
  large: { ...dense, embedding: 4096, layers: 5, heads: 32, kvHeads: 8, ffn: 14336, vocabulary: 8192, tied: true },
  /** 1.1 billion weights, 620 MB: the shape of a small chat model that people run on a CPU. */
  billion: { ...dense, embedding: 2048, layers: 22, heads: 32, kvHeads: 4, ffn: 5632, vocabulary: 32000 },
  /** 540 MB of floating-point numbers, in no server's cache: a product of one token does little with each, and waits for memory. */
  floats: { ...dense, embedding: 1024, layers: 8, heads: 16, kvHeads: 16, ffn: 4096, vocabulary: 512, weights: "f32" },
  /** 12 MB of the same: they stay in the last-level cache of most machines. */
  fewFloats: { ...dense, embedding: 512, layers: 1, heads: 8, kvHeads: 8, ffn: 1024, vocabulary: 512, weights: "f32" },
  /** A mixture of 8 experts, 2 used per token. */
  moe: { ...dense, embedding: 64, layers: 2, heads: 4, kvHeads: 2, ffn: 128, vocabulary: 512, experts: 8, expertsUsed: 2 },
  /** Mixtures whose experts are known beforehand. */
  routed2of8: { ...routed, experts: 8, expertsUsed: 2 },
  routed8of8: { ...routed, experts: 8, expertsUsed: 8 },
  routed2of64: { ...routed, experts: 64, expertsUsed: 2 },
  routed8of64: { ...routed, experts: 64, expertsUsed: 8 },
} as const satisfies Record<string, Shape>;

export type ShapeName = keyof typeof shapes;
