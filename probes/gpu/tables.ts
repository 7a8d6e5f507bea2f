import { CUDA } from "./functions/cuda.ts";
import { CUDART, CUDART_ALONE, NVCC } from "./functions/cudart.ts";
import { HIP } from "./functions/hip.ts";
import { LEVEL_ZERO } from "./functions/levelzero.ts";
import { NCCL } from "./functions/nccl.ts";
import { TENSORRT } from "./functions/tensorrt.ts";
import { VULKAN } from "./functions/vulkan.ts";

export type Family = "cuda" | "cudart" | "nccl" | "hip" | "vulkan" | "tensorrt" | "levelzero";

/**
 * What functions of GPU libraries do, and where they say to what: on each line a kind, the functions (without the ends that versions give them: `_v2`,
 * `_ptsz`), and words about a call with where each is found: an argument by its place, `*0` what the first one points to when the function returns, or a
 * name of `SOURCES` (layout.ts, calls.ts). Written from the documentation of each interface; a version whose words lie elsewhere stands with its own name.
 */
export const TABLES: Readonly<Record<Family, string>> = {
  cuda: CUDA,
  cudart: CUDART + CUDART_ALONE.trimStart() + NVCC.trimStart(),
  nccl: NCCL,
  hip: CUDART.replaceAll(" cuda", " hip") + HIP.trimStart(),
  vulkan: VULKAN,
  tensorrt: TENSORRT,
  levelzero: LEVEL_ZERO,
};
