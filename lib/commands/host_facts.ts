import { lastPart } from "../events/text.ts";
import type { Capabilities } from "../machine/capabilities.ts";
import { devicesText, readDiskNames } from "../machine/disks.ts";
import type { KernelFiles } from "../machine/files.ts";
import { nodesText, readNumaNodes } from "../machine/numa.ts";
import { readOnline } from "../machine/processors.ts";
import type { Header } from "../timeline/header.ts";

/** What of the machine decides whether two runs compare. */
export function hostFacts(machine: Capabilities): Header["host"] {
  const { kernel, cpuModel, cpus, governor, memoryBytes, arch } = machine;
  return { kernel, cpu: cpuModel, cpus, governor, memoryBytes, arch };
}

/** Names of block devices by their numbers. */
export async function deviceNames(files: KernelFiles): Promise<{ devices: string }> {
  const [links, disks] = await Promise.all([files.links("/sys/dev/block"), readDiskNames(files)]);
  const names = new Map([...disks, ...[...links].map(([number, target]) => [number, lastPart(target)] as const)]);
  return { devices: devicesText(names) };
}

/** Processors by node where there are several. */
export async function numaNodes(files: KernelFiles): Promise<{ nodes?: string }> {
  const nodes = await readNumaNodes(files);
  return nodes.length > 0 ? { nodes: nodesText(nodes) } : {};
}

/** Numbers of the processors, `0-3,6`. */
export async function onlineProcessors(files: KernelFiles): Promise<{ online: string | null }> {
  return { online: await readOnline(files) };
}
