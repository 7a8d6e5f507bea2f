import type { DiskUse } from "../events/surroundings.ts";
import { deviceNumber } from "./device.ts";
import type { KernelFiles } from "./files.ts";

/** What disks have to do now, by the kernel's own count; those that never had anything are left out. */
export async function readDisks(files: Pick<KernelFiles, "texts">): Promise<DiskUse[]> {
  const [text] = await files.texts(["/proc/diskstats"]);
  return parseDisks(text ?? "");
}

/** Names of disks by their numbers, `7:0`, those that nothing else tells of among them. */
export async function readDiskNames(files: Pick<KernelFiles, "texts">): Promise<Map<string, string>> {
  const [text] = await files.texts(["/proc/diskstats"]);
  return new Map(linesOf(text ?? "").map(({ major, minor, name }) => [`${major}:${minor}`, name]));
}

/** `7:0 loop0,259:0 nvme0n1`, as a recording's header tells them: in a trace they are known by number. */
export function devicesText(names: ReadonlyMap<string, string>): string {
  return [...names].map(([number, name]) => `${number} ${name}`).join(",");
}

/** Names by number; none where nothing is told. */
export function parseDevices(told: unknown): Map<string, string> {
  const pairs = typeof told === "string" ? told.split(",").map((pair) => pair.split(" ")) : [];
  return new Map(pairs.flatMap(([number, name]) => number && name ? [[number, name] as const] : []));
}

/** Whether that is told of devices alone, by the kernel's names for them. */
export function isDevices(told: string): boolean {
  return /^(?:\d+:\d+ [\w!-]+(?:,|$))*$/.test(told);
}

/** The first of the numbers behind a name counts reads, the fifth writes, the ninth says how many requests there are now. */
export function parseDisks(text: string): DiskUse[] {
  return linesOf(text).flatMap(({ major, minor, name, counts }) => {
    const [reads, writes, requests] = [counts[0], counts[4], counts[8]] as [number, number, number];
    return reads + writes + requests > 0 ? [{ dev: deviceNumber(major, minor), name, requests }] : [];
  });
}

/** `7 0 loop0`, then numbers. */
function linesOf(text: string) {
  const lines = text.split("\n").map((line) => line.trim().split(/\s+/)).filter((words) => words.length >= 14);
  return lines.map(([major, minor, name, ...counts]) => ({
    major: Number(major),
    minor: Number(minor),
    name: diskOf(name!),
    counts: counts.map(Number),
  }));
}

/** Of an NVMe disk to which several ways may lead each has the requests that go there, and a name that is shown nowhere else: `nvme0c1n1` leads to `nvme0n1`. */
function diskOf(name: string): string {
  return name.replace(/^(nvme\d+)c\d+(n\d+)$/, "$1$2");
}
