import type { KernelFiles } from "./files.ts";
import { numbersOf } from "./numa.ts";

/** Those that are online, `0-3,6`, as the kernel writes it: what is switched off, or not there, leaves gaps. Null where it does not say. */
export async function readOnline(files: Pick<KernelFiles, "texts">): Promise<string | null> {
  const [online] = await files.texts(["/sys/devices/system/cpu/online"]);
  return online?.trim() || null;
}

/** Their numbers. `online`: as {@link readOnline} reads it; null where that is not told. */
export function processorNumbers(online: unknown): number[] | null {
  return typeof online === "string" ? numbersOf(online) : null;
}

/** What so many are taken to be where nothing tells their numbers. */
export function firstProcessors(cpus: number): number[] {
  return Array.from({ length: cpus }, (_, cpu) => cpu);
}
