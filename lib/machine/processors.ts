import type { KernelFiles } from "./files.ts";
import { numbersOf } from "./numa.ts";

/** Those that are online, `0-3,6`, as the kernel writes it: what is switched off, or not there, leaves gaps. Null where it does not say. */
export async function readOnline(files: Pick<KernelFiles, "texts">): Promise<string | null> {
  const [online] = await files.texts(["/sys/devices/system/cpu/online"]);
  return online?.trim() || null;
}

/** Their numbers. `online`: as {@link readOnline} reads it; where that is not told, so many (`cpus`) have the first numbers. */
export function processorNumbers(online: unknown, cpus: number): number[] {
  return typeof online === "string" ? numbersOf(online) : Array.from({ length: cpus }, (_, cpu) => cpu);
}
