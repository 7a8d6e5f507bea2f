import type { KernelFiles } from "../machine/files.ts";

/** Kernel clock ticks a second in /proc/PID/stat: fixed at 100 for user space on every architecture. */
const TICKS = 100;

/** CPU seconds that a process has used; 0 when it is gone. */
export async function cpuSeconds(files: KernelFiles, pid: number): Promise<number> {
  const text = await files.text(`/proc/${pid}/stat`);
  if (text === null) return 0;
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Hits of a bpftrace's programs that the kernel skipped, because a program ran on that CPU already. Neither the in-kernel count nor bpftrace's own knows of them. */
export async function skippedHits(files: KernelFiles, pid: number): Promise<number> {
  const dir = `/proc/${pid}/fdinfo`;
  const names = await files.list(dir);
  const texts = await files.texts(names.map((name) => `${dir}/${name}`));
  let skipped = 0;
  for (const text of texts) skipped += Number(/^recursion_misses:\s*(\d+)/m.exec(text ?? "")?.[1] ?? 0);
  return skipped;
}
