import type { MemoryUse } from "../events/surroundings.ts";
import type { KernelFiles } from "./files.ts";
import { kernelCount } from "./kernel_count.ts";
import { parseNumaMaps } from "./numa.ts";

/** What these processes, as far as they live, and the machine use memory for. `byNode`: also where it is, for which the kernel goes through all of it. */
export async function readMemoryUse(files: Pick<KernelFiles, "texts" | "list">, pids: readonly number[], byNode = false): Promise<MemoryUse> {
  const of = (name: string) => pids.map((pid) => `/proc/${pid}/${name}`);
  const [machine, events, ...each] = await files.texts(["/proc/meminfo", "/proc/vmstat", ...of("status"), ...byNode ? of("numa_maps") : []]);
  const told = await Promise.all(pids.map((pid, i) => {
    const [status, places] = [each[i], each[pids.length + i]];
    return isHeadless(status) ? ofAnotherThread(files, pid, byNode) : { status, places };
  }));
  return {
    // A process that has ended and is not fetched yet has no memory.
    processes: pids.flatMap((pid, i) => {
      const { status: text, places } = told[i]!;
      if (!hasMemory(text)) return [];
      const nodes = places && [...parseNumaMaps(places)].map(([node, bytes]) => ({ node, bytes }));
      return [{ pid, resident: kib(text, "VmRSS"), locked: kib(text, "VmLck"), swapped: kib(text, "VmSwap"), ...nodes && { nodes } }];
    }),
    available: kib(machine, "MemAvailable"),
    pageCache: kib(machine, "Cached"),
    // Of a disk, and of what is kept compressed in memory.
    swappedIn: kernelCount(events, "pswpin") + kernelCount(events, "zswpin"),
    swappedOut: kernelCount(events, "pswpout") + kernelCount(events, "zswpout"),
  };
}

function hasMemory(status: string | null | undefined): status is string {
  return status?.includes("VmRSS:") ?? false;
}

/** A process goes on without its first thread, by which the kernel tells what a process has: it tells none of it. */
function isHeadless(status: string | null | undefined): boolean {
  return !hasMemory(status) && /^Threads:\s+(?!1$)\d+$/m.test(status ?? "");
}

async function ofAnotherThread(files: Pick<KernelFiles, "texts" | "list">, pid: number, byNode: boolean) {
  const threads = (await files.list(`/proc/${pid}/task`)).map((tid) => `/proc/${pid}/task/${tid}`);
  const all = await files.texts(threads.map((thread) => `${thread}/status`));
  const living = all.findIndex(hasMemory);
  const [places] = byNode && living >= 0 ? await files.texts([`${threads[living]}/numa_maps`]) : [];
  return { status: all[living], places };
}

/** `VmRSS:     1234 kB`, which are KiB. */
export function kib(text: string | null | undefined, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text ?? "")?.[1] ?? 0) * 1024;
}
