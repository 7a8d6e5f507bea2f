import type { GpuCall } from "../../lib/events/gpu.ts";
import type { Args } from "../../lib/events/span.ts";
import type { Signature } from "./signatures.ts";

/** Words that are addresses or handles: numbers to no one. */
const HANDLES = new Set(["address", "to", "from", "context", "function", "kernel", "event", "exec", "graph", "module", "stream", "handle", "owner"]);
/** Words that are told in a form of their own, or are part of another. */
const INSIDE = new Set(["grid", "block", "kind", "types", "words16", "words32", "count", "type", "name", "depth"]);
/** ncclDataType_t: bytes of each. */
const NCCL_BYTES = [1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1];

/** Above an address stands the kind of a copy, in recordings of before that alone; it is below all addresses. */
const KIND_ABOVE = 2 ** 48, KIND_ALONE = 1024;

/** What is said of a call, by its words: how many bytes; undefined where nothing says so. */
export function bytesOf(said: ReadonlyMap<string, number>): number | undefined {
  const count = said.get("count");
  if (count !== undefined) return count * (NCCL_BYTES[said.get("type") ?? -1] ?? 0);
  const words = said.get("words32");
  if (words !== undefined) return 4 * words;
  const halves = said.get("words16");
  return halves === undefined ? said.get("bytes") : 2 * halves;
}

/** What is said of a call, by the words of its function. */
export function saidBy({ words, layout }: Signature, found: readonly number[]): Map<string, number> {
  const said = new Map<string, number>();
  for (const [i, word] of words.entries()) {
    const value = found[layout.slots[i]!] ?? 0;
    if (word === "fromOfKind" && value > KIND_ALONE) said.set("from", value % KIND_ABOVE).set("kind", Math.floor(value / KIND_ABOVE));
    else said.set(word === "fromOfKind" ? "kind" : word, value);
  }
  return said;
}

/** The same for the reader of a trace, with what was found out of it. */
export function argsOf(said: ReadonlyMap<string, number>, gpu: GpuCall): Args | undefined {
  const args: Record<string, string | number | boolean> = {};
  for (const [word, value] of said) {
    if (INSIDE.has(word)) continue;
    args[word] = HANDLES.has(word) ? hex(value) : value;
  }
  const grid = said.get("grid"), block = said.get("block");
  if (grid !== undefined) args.grid = `${grid % 2 ** 31}×${Math.floor(grid / 2 ** 31)}×${said.get("depth") ?? block! % 2 ** 16}`;
  if (block !== undefined) {
    args.block = `${Math.floor(block / 2 ** 16) % 2 ** 11}×${Math.floor(block / 2 ** 27) % 2 ** 11}×${Math.floor(block / 2 ** 38)}`;
  }
  for (const key of ["bytes", "direction", "memory", "device", "kernel", "stack"] as const) if (gpu[key] !== undefined) args[key] = gpu[key];
  if (gpu.isCaptured) args.captured = true;
  if (gpu.graph) args.kernels = gpu.graph.kernels.values().reduce((sum, times) => sum + times, 0);
  if (gpu.result !== null) args.returned = gpu.result;
  return Object.keys(args).length > 0 ? args : undefined;
}

export function hex(value: number): string {
  return `0x${value.toString(16)}`;
}
