import type { KernelFiles } from "./files.ts";

/** A part of the machine whose processors reach its memory faster than that of others. */
export interface NumaNode {
  readonly node: number;
  /** `0-15,32-47`, as the kernel writes it. */
  readonly cpus: string;
}

const FOLDER = "/sys/devices/system/node";

/** Empty on a machine of one node: there is nothing to be told of it. */
export async function readNumaNodes(files: Pick<KernelFiles, "texts">): Promise<NumaNode[]> {
  const [online] = await files.texts([`${FOLDER}/online`]);
  const nodes = numbersOf(online?.trim() ?? "");
  if (nodes.length < 2) return [];
  const cpus = await files.texts(nodes.map((node) => `${FOLDER}/node${node}/cpulist`));
  return nodes.map((node, i) => ({ node, cpus: cpus[i]?.trim() ?? "" }));
}

/** `0 0-15;1 16-31`, as a recording's header tells them: in a trace processors are known by number. */
export function nodesText(nodes: readonly NumaNode[]): string {
  return nodes.map(({ node, cpus }) => `${node} ${cpus}`).join(";");
}

/** Processors by node; none where nothing is told. */
export function parseNodes(told: unknown): { readonly node: number; readonly cpus: readonly number[] }[] {
  const pairs = typeof told === "string" ? told.split(";").map((pair) => pair.split(" ")) : [];
  // One that has memory alone is a node, too.
  return pairs.flatMap(([node, cpus]) => node && cpus !== undefined ? [{ node: Number(node), cpus: numbersOf(cpus) }] : []);
}

/** Whether that is told of nodes alone. */
export function isNodes(told: string): boolean {
  return /^[\d ,;-]*$/.test(told);
}

/** Most numbers that a list can have: a machine has fewer processors, and a recording may say anything. */
const MOST = 8192;

/** `0-2,5` → 0, 1, 2, 5. */
export function numbersOf(list: string): number[] {
  return list.split(",").flatMap((range) => {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(range) ?? [];
    if (first === undefined || Number(last) - Number(first) >= MOST) return [];
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => Number(first) + i);
  });
}

/** Bytes of a process by node, from `/proc/PID/numa_maps`: `7f00 default anon=5 N0=3 N1=2 kernelpagesize_kB=4`. */
export function parseNumaMaps(text: string): Map<number, number> {
  const bytes = new Map<number, number>();
  for (const line of text.split("\n")) {
    const page = Number(/\bkernelpagesize_kB=(\d+)/.exec(line)?.[1] ?? 4) * 1024;
    for (const [, node, pages] of line.matchAll(/ N(\d+)=(\d+)/g)) bytes.set(Number(node), (bytes.get(Number(node)) ?? 0) + Number(pages) * page);
  }
  return bytes;
}
