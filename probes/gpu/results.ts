import { hex } from "./said.ts";
import type { Family } from "./signatures.ts";

/** Of cudaError_t and CUresult, and of HIP's, which are numbered alike: those that a program meets. */
const CUDA: Readonly<Record<number, string>> = {
  1: "invalid value",
  2: "out of memory",
  3: "not initialized",
  4: "deinitialized",
  9: "invalid configuration",
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
  226: "hardware error, contained",
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
  710: "device-side assert",
  712: "host memory already registered",
  713: "host memory not registered",
  714: "hardware stack error",
  715: "illegal instruction",
  716: "misaligned address",
  717: "invalid address space",
  718: "invalid program counter",
  719: "launch failed",
  720: "cooperative launch too large",
  721: "tensor memory leak",
  800: "not permitted",
  801: "not supported",
  802: "system not ready",
  803: "system driver mismatch",
  804: "compatibility not supported on this GPU",
  900: "stream capture unsupported",
  901: "stream capture invalidated",
  910: "graph update failed",
  911: "external device failed",
  999: "unknown error",
};

const NCCL: Readonly<Record<number, string>> = {
  1: "unhandled CUDA error",
  2: "system error",
  3: "internal error",
  4: "invalid argument",
  5: "invalid usage",
  6: "remote error",
  8: "timeout",
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

/** Of ze_result_t. */
const LEVEL_ZERO: Readonly<Record<number, string>> = {
  0x70000001: "device lost",
  0x70000002: "out of host memory",
  0x70000003: "out of device memory",
  0x70000004: "module does not build",
  0x70000005: "module does not link",
  0x70000006: "device requires reset",
  0x70010000: "not permitted",
  0x70020000: "something that it needs is missing",
  0x78000001: "not initialized",
  0x78000002: "unsupported version",
  0x78000003: "unsupported feature",
  0x78000004: "invalid argument",
  0x78000005: "invalid handle",
  0x78000006: "still in use",
  0x78000007: "null pointer",
  0x78000008: "invalid size",
  0x78000009: "unsupported size",
  0x7800000f: "unsupported binary",
  0x78000011: "no such kernel",
  0x7800001c: "invalid kernel handle",
  0x7ffffffe: "unknown error",
};

/** Not ready yet; under way: an answer, and no failure. */
const NOT_READY: Readonly<Partial<Record<Family, number>>> = { cuda: 600, cudart: 600, hip: 600, nccl: 7, levelzero: 1 };

/** In words, why a call failed; null: it did not. */
export function failureOf(family: Family, result: number): string | null {
  // Vulkan's numbers above 0 are answers.
  if (result === 0 || result === NOT_READY[family] || (family === "vulkan" && result > 0)) return null;
  if (family === "levelzero") return `${LEVEL_ZERO[result] ?? "error"} (${hex(result)})`;
  const table = family === "nccl" ? NCCL : family === "vulkan" ? VULKAN : CUDA;
  return `${table[result] ?? "error"} (${result})`;
}
