import type { MemoryUse } from "../events/surroundings.ts";
import type { KernelFiles } from "./files.ts";
import { kernelCount } from "./kernel_count.ts";
import { parseNumaMaps } from "./numa.ts";

/** What these processes, as far as they live, and the machine use memory for. `byNode`: also where it is, for which the kernel goes through all of it. */
export async function readMemoryUse(files: Pick<KernelFiles, "texts">, pids: readonly number[], byNode = false): Promise<MemoryUse> {
  const of = (name: string) => pids.map((pid) => `/proc/${pid}/${name}`);
  const [machine, events, ...each] = await files.texts(["/proc/meminfo", "/proc/vmstat", ...of("status"), ...byNode ? of("numa_maps") : []]);
  const status = each.slice(0, pids.length), places = each.slice(pids.length);
  return {
    // A process that has ended and is not fetched yet has no memory.
    processes: pids.flatMap((pid, i) => {
      const text = status[i];
      if (!text?.includes("VmRSS:")) return [];
      const nodes = places[i] && [...parseNumaMaps(places[i])].map(([node, bytes]) => ({ node, bytes }));
      return [{ pid, resident: kib(text, "VmRSS"), locked: kib(text, "VmLck"), swapped: kib(text, "VmSwap"), ...nodes && { nodes } }];
    }),
    available: kib(machine, "MemAvailable"),
    pageCache: kib(machine, "Cached"),
    // Of a disk, and of what is kept compressed in memory.
    swappedIn: kernelCount(events, "pswpin") + kernelCount(events, "zswpin"),
    swappedOut: kernelCount(events, "pswpout") + kernelCount(events, "zswpout"),
  };
}

/** `VmRSS:     1234 kB`, which are KiB. */
export function kib(text: string | null | undefined, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text ?? "")?.[1] ?? 0) * 1024;
}
