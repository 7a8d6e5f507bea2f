import type { Capabilities } from "../machine/capabilities.ts";
import type { KernelFiles } from "../machine/files.ts";
import type { Header } from "../timeline/header.ts";

/** What of the machine decides whether two runs compare. */
export function hostFacts(machine: Capabilities): Header["host"] {
  const { kernel, cpuModel, cpus, governor, memoryBytes, arch } = machine;
  return { kernel, cpu: cpuModel, cpus, governor, memoryBytes, arch };
}

/** Names of block devices by their numbers, `7:0 loop0,259:0 nvme0n1`: in a trace they are known by number. */
export async function deviceNames(files: KernelFiles): Promise<{ devices: string }> {
  const links = await files.links("/sys/dev/block");
  return { devices: [...links].map(([number, target]) => `${number} ${target.slice(target.lastIndexOf("/") + 1)}`).join(",") };
}

export function parseDevices(told: unknown): Map<string, string> {
  const pairs = typeof told === "string" ? told.split(",").map((pair) => pair.split(" ")) : [];
  return new Map(pairs.flatMap(([number, name]) => number && name ? [[number, name] as const] : []));
}
