import type { GpuDirection } from "../../lib/events/gpu.ts";
import type { MemoryKind } from "./memory.ts";
import type { Family } from "./signatures.ts";

/** cudaMemcpyKind, and hipMemcpyKind. */
const KINDS: readonly GpuDirection[] = ["on the host", "host to device", "device to host", "on the device"];
const LETTERS: Readonly<Record<string, GpuDirection>> = { HtoD: "host to device", DtoH: "device to host", DtoD: "on the device" };
/** Of CUmemorytype: memory of the host, and an address that may be anybody's. */
const HOST = 1, UNIFIED = 4;

/**
 * Where a copy goes, by what the function says (`variant`), what it was told, or where the addresses lie: `at` says what was asked for there, and is undefined
 * where nothing was, which is the host's memory only if all that the process asked for was seen (`isAllKnown`).
 */
export function directionOf(
  variant: string,
  said: ReadonlyMap<string, number>,
  at: (address: number) => MemoryKind | undefined,
  isAllKnown: boolean,
): GpuDirection {
  const told = variant === "kind" ? KINDS[said.get("kind")!] : LETTERS[variant];
  if (told) return told;
  const types = said.get("types");
  const [fromHost, toHost] = types === undefined
    ? [isHost(said.get("from"), at, isAllKnown), isHost(said.get("to"), at, isAllKnown)]
    : [isHostType(Math.floor(types / 16)), isHostType(types % 16)];
  if (fromHost === undefined || toHost === undefined) return "by the addresses";
  return fromHost ? toHost ? "on the host" : "host to device" : toHost ? "device to host" : "on the device";
}

function isHost(address: number | undefined, at: (address: number) => MemoryKind | undefined, isAllKnown: boolean): boolean | undefined {
  const memory = address === undefined ? undefined : at(address);
  if (memory === undefined) return address !== undefined && isAllKnown ? true : undefined;
  return memory === "host" || memory === "registered";
}

function isHostType(type: number): boolean | undefined {
  return type === UNIFIED ? undefined : type === HOST;
}

/** Whether a copy has been made when its call returns: what stays on the device, or may do so, is only begun. */
export function isDoneAtReturn(name: string, family: Family, direction: GpuDirection): boolean {
  return !name.endsWith("Async") && family !== "levelzero" && direction !== "on the device" && direction !== "by the addresses";
}
