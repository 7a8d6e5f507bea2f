import type { Family } from "./signatures.ts";

/** Of cudaError_t and CUresult, and of HIP's, which are numbered alike: those that a program meets. */
const CUDA: Readonly<Record<number, string>> = {
  1: "invalid value",
  2: "out of memory",
  3: "not initialized",
  4: "deinitialized",
  34: "stub library",
  35: "driver too old",
  46: "devices unavailable",
  98: "invalid device function",
  100: "no device",
  101: "invalid device",
  200: "invalid image",
  201: "invalid context",
  209: "no kernel image for this GPU",
  214: "uncorrectable memory error",
  217: "peer access unsupported",
  218: "invalid PTX",
  222: "unsupported PTX version",
  300: "invalid source",
  301: "file not found",
  304: "operating system call failed",
  400: "invalid handle",
  500: "not found",
  700: "illegal address",
  701: "out of resources for the launch",
  702: "launch timed out",
  704: "peer access already enabled",
  709: "context is destroyed",
  719: "launch failed",
  801: "not supported",
  900: "stream capture unsupported",
  901: "stream capture invalidated",
  999: "unknown error",
};

const NCCL: Readonly<Record<number, string>> = {
  1: "unhandled CUDA error",
  2: "system error",
  3: "internal error",
  4: "invalid argument",
  5: "invalid usage",
  6: "remote error",
};

const VULKAN: Readonly<Record<number, string>> = {
  [-1]: "out of host memory",
  [-2]: "out of device memory",
  [-3]: "initialization failed",
  [-4]: "device lost",
  [-5]: "memory map failed",
  [-7]: "extension not present",
  [-8]: "feature not present",
  [-9]: "incompatible driver",
};

/** Not ready yet; under way: an answer, and no failure. */
const NOT_READY: Readonly<Partial<Record<Family, number>>> = { cuda: 600, cudart: 600, hip: 600, nccl: 7 };

/** In words, why a call failed; null: it did not. */
export function failureOf(family: Family, result: number): string | null {
  // Vulkan's numbers above 0 are answers, and Level Zero's failures are above 2^30.
  if (result === 0 || result === NOT_READY[family] || (family === "vulkan" && result > 0) || (family === "levelzero" && result === 1)) return null;
  const table = family === "nccl" ? NCCL : family === "vulkan" ? VULKAN : family === "levelzero" ? {} : CUDA;
  return `${table[result] ?? "error"} (${result})`;
}
