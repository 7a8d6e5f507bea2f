import type { DiskUse } from "../events/surroundings.ts";
import { deviceNumber } from "./device.ts";
import type { KernelFiles } from "./files.ts";

/** What disks have to do now, by the kernel's own count; those that never had anything are left out. */
export async function readDisks(files: Pick<KernelFiles, "texts">): Promise<DiskUse[]> {
  const [text] = await files.texts(["/proc/diskstats"]);
  return parseDisks(text ?? "");
}

/** `7 0 loop0`, then numbers: the first counts reads, the fifth writes, the ninth says how many requests there are now. */
export function parseDisks(text: string): DiskUse[] {
  return text.split("\n").map((line) => line.trim().split(/\s+/)).filter((words) => words.length >= 14).flatMap(([major, minor, name, ...counts]) => {
    const [reads, writes, requests] = [counts[0], counts[4], counts[8]].map(Number) as [number, number, number];
    return reads + writes + requests > 0 ? [{ dev: deviceNumber(Number(major), Number(minor)), name: name!, requests }] : [];
  });
}
