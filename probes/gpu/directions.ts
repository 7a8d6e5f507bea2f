import type { GpuDirection } from "../../lib/events/gpu.ts";
import type { Lying, MemoryKind } from "./memory.ts";
import type { Family } from "./signatures.ts";

/** cudaMemcpyKind, and hipMemcpyKind, whose last one leaves out the compute units. */
const KINDS: Readonly<Record<number, GpuDirection>> = {
  0: "on the host",
  1: "host to device",
  2: "device to host",
  3: "on the device",
  1024: "on the device",
};
const LETTERS: Readonly<Record<string, GpuDirection>> = {
  HtoD: "host to device",
  DtoH: "device to host",
  DtoD: "on the device",
  PtoP: "between devices",
};
/** Memory that stays on its GPU. */
const STAYING = new Set<MemoryKind>(["device", "pooled", "physical"]);
/** Of CUmemorytype, and of hipMemoryType since HIP 6: memory of the host, and an address that may be anybody's. */
const HOST = 1, UNIFIED = [4, 11];

/**
 * Where a copy goes, by what the function says (`variant`), what it was told, or where the addresses lie: `at` says what was asked for there, and is undefined
 * where nothing was, which is the host's memory only if all that the process asked for was seen (`isWhole`). Undefined: the process was not even seen to
 * begin, and its threads may have chosen any GPU.
 */
export function directionOf(
  variant: string,
  said: ReadonlyMap<string, number>,
  at: (address: number) => Lying | undefined,
  isWhole: boolean | undefined,
): GpuDirection {
  const told = variant === "kind" ? KINDS[said.get("kind")!] : LETTERS[variant], types = said.get("types");
  const [from, to] = ["from", "to"].map((word) => lyingAt(said.get(word), at, isWhole));
  const onDevices = variant === "peers" || isWhole !== undefined && areApart(from, to) ? "between devices" : "on the device";
  if (told) return told === "on the device" ? onDevices : told;
  const [fromHost, toHost] = types === undefined ? [isHost(from), isHost(to)] : [isHostType(Math.floor(types / 16)), isHostType(types % 16)];
  if (fromHost === undefined || toHost === undefined) return "by the addresses";
  return fromHost ? toHost ? "on the host" : "host to device" : toHost ? "device to host" : onDevices;
}

function lyingAt(address: number | undefined, at: (address: number) => Lying | undefined, isWhole = false): Lying | undefined {
  if (address === undefined) return undefined;
  return at(address) ?? (isWhole ? { memory: "host", device: -1 } : undefined);
}

function isHost(lying: Lying | undefined): boolean | undefined {
  return lying && (lying.memory === "host" || lying.memory === "registered");
}

function areApart(from: Lying | undefined, to: Lying | undefined): boolean {
  const [a, b] = [from, to].map((lying) => lying && STAYING.has(lying.memory) ? lying.device : undefined);
  return a !== undefined && b !== undefined && a !== b;
}

function isHostType(type: number): boolean | undefined {
  return UNIFIED.includes(type) ? undefined : type === HOST;
}

/** Whether a copy has been made when its call returns: what stays on devices, or may do so, is only begun. */
export function isDoneAtReturn(name: string, family: Family, direction: GpuDirection): boolean {
  return !name.endsWith("Async") && family !== "levelzero" && direction.includes("host");
}
