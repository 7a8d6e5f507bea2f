/** `name 17` on a line of its own, as the kernel writes what it counts (`cpu.stat`, `/proc/vmstat`); 0 where there is none. */
export function kernelCount(text: string | null | undefined, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text ?? "")?.[1] ?? 0);
}
