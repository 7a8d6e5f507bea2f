/** `release`: `6.18.44-generic`. Distributions take features back into older kernels: what is said to be missing may be there. */
export function isKernelAtLeast(release: string, major: number, minor: number): boolean {
  const [, a, b] = /^(\d+)\.(\d+)/.exec(release) ?? [];
  return Number(a) > major || (Number(a) === major && Number(b) >= minor);
}

/** Whether it counts the hits that it skips because a program runs on that processor already. Before, it counted those of few kinds of probes. */
export function countsSkipped(release: string): boolean {
  return isKernelAtLeast(release, 6, 7);
}

/** By minor number of Linux 6: the first point from which on no filter is asked. What a distribution has mended for itself is not to be known. */
const UNFILTERED: Readonly<Record<string, number>> = { 11: Infinity, 12: 17, 13: 5 };
/** What to do about it, in words. */
export const UNFILTERED_RETURNS = "Linux 6.12.17, 6.13.5 or 6.14, or run the target without its filter: docker run --security-opt seccomp=unconfined";

/**
 * Whether a filter of system calls (seccomp) is asked when a function returns that is watched: that is a system call of its own since 6.11, which none
 * knows, and most refuse or kill for it.
 */
export function filtersReturns(release: string, arch: "x86_64" | "aarch64"): boolean {
  const [, minor = "", point = 0] = /^6\.(\d+)(?:\.(\d+))?/.exec(release) ?? [];
  return arch === "x86_64" && Number(point) < (UNFILTERED[minor] ?? 0);
}
