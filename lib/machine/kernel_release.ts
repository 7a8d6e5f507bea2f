/** `release`: `6.18.44-generic`. Distributions take features back into older kernels: what is said to be missing may be there. */
export function isKernelAtLeast(release: string, major: number, minor: number): boolean {
  const [, a, b] = /^(\d+)\.(\d+)/.exec(release) ?? [];
  return Number(a) > major || (Number(a) === major && Number(b) >= minor);
}

/** Whether it counts the hits that it skips because a program runs on that processor already. Before, it counted those of few kinds of probes. */
export function countsSkipped(release: string): boolean {
  return isKernelAtLeast(release, 6, 7);
}
