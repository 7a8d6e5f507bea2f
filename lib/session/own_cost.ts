import type { KernelFiles } from "../machine/files.ts";
import { countsSkipped } from "../machine/kernel_release.ts";
import { readStat } from "../target/process.ts";
import { sideLook } from "./side_look.ts";

/** CPU seconds that a process has used; 0 when it is gone, NaN where that could not be looked at. */
export async function cpuSeconds(files: KernelFiles, pid: number): Promise<number> {
  const stat = await sideLook(readStat(files, pid), { cpuSeconds: NaN });
  return stat?.cpuSeconds ?? 0;
}

/**
 * Hits of a bpftrace's programs that the kernel skipped, because a program ran on that CPU already; NaN where that could not be looked at. Neither the
 * in-kernel count nor bpftrace's own knows of them.
 */
export function skippedHits(files: KernelFiles, pid: number): Promise<number> {
  return sideLook(readSkipped(files, pid), NaN);
}

async function readSkipped(files: KernelFiles, pid: number): Promise<number> {
  const dir = `/proc/${pid}/fdinfo`;
  const names = await files.list(dir);
  const texts = await files.texts(names.map((name) => `${dir}/${name}`));
  let skipped = 0;
  for (const text of texts) skipped += Number(/^recursion_misses:\s*(\d+)/m.exec(text ?? "")?.[1] ?? 0);
  return skipped;
}

/** What a loss of 0 is without, as a note. */
export function uncounted(kernel: string): string[] {
  return countsSkipped(kernel) ? [] : [`hits that the kernel skips are not counted by this kernel (${kernel})`];
}
