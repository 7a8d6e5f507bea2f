import { lastPart } from "../events/text.ts";
import type { Capabilities } from "../machine/capabilities.ts";
import { readDiskNames } from "../machine/disks.ts";
import type { KernelFiles } from "../machine/files.ts";
import { numbersOf, readNumaNodes } from "../machine/numa.ts";
import { readOnline } from "../machine/processors.ts";
import type { Header } from "../timeline/header.ts";

/** What of the machine decides whether two runs compare. */
export function hostFacts(machine: Capabilities): Header["host"] {
  const { kernel, cpuModel, cpus, governor, memoryBytes, arch } = machine;
  return { kernel, cpu: cpuModel, cpus, governor, memoryBytes, arch };
}

/** Names of block devices by their numbers, `7:0 loop0,259:0 nvme0n1`: in a trace they are known by number. */
export async function deviceNames(files: KernelFiles): Promise<{ devices: string }> {
  const [links, disks] = await Promise.all([files.links("/sys/dev/block"), readDiskNames(files)]);
  const names = new Map([...disks, ...[...links].map(([number, target]) => [number, lastPart(target)] as const)]);
  return { devices: [...names].map(([number, name]) => `${number} ${name}`).join(",") };
}

/** Processors by node where there are several, `0 0-15;1 16-31`: in a trace they are known by number. */
export async function numaNodes(files: KernelFiles): Promise<{ nodes?: string }> {
  const nodes = await readNumaNodes(files);
  return nodes.length > 0 ? { nodes: nodes.map(({ node, cpus }) => `${node} ${cpus}`).join(";") } : {};
}

/** Numbers of the processors, `0-3,6`. */
export async function onlineProcessors(files: KernelFiles): Promise<{ online: string | null }> {
  return { online: await readOnline(files) };
}

export function parseNodes(told: unknown): { readonly node: number; readonly cpus: readonly number[] }[] {
  const pairs = typeof told === "string" ? told.split(";").map((pair) => pair.split(" ")) : [];
  // One that has memory alone is a node, too.
  return pairs.flatMap(([node, cpus]) => node && cpus !== undefined ? [{ node: Number(node), cpus: numbersOf(cpus) }] : []);
}

export function parseDevices(told: unknown): Map<string, string> {
  const pairs = typeof told === "string" ? told.split(",").map((pair) => pair.split(" ")) : [];
  return new Map(pairs.flatMap(([number, name]) => number && name ? [[number, name] as const] : []));
}
