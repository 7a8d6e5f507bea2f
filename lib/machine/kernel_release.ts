/** `release`: `6.18.44-generic`. Distributions take features back into older kernels: what is said to be missing may be there. */
export function isKernelAtLeast(release: string, major: number, minor: number): boolean {
  const [, a, b] = /^(\d+)\.(\d+)/.exec(release) ?? [];
  return Number(a) > major || (Number(a) === major && Number(b) >= minor);
}

/** Whether it counts the hits that it skips because a program runs on that processor already. Before, it counted those of few kinds of probes. */
export function countsSkipped(release: string): boolean {
  return isKernelAtLeast(release, 6, 7);
}

/** By minor number of Linux 6: the first point from which on no filter is asked. */
const UNFILTERED: Readonly<Record<string, number>> = { 11: Infinity, 12: 17, 13: 5 };
/** What to do about it, in words. */
export const UNFILTERED_RETURNS = "Linux 6.12.17, 6.13.5 or 6.14, or run the target without its filter: docker run --security-opt seccomp=unconfined";

/** Oracle's says it behind its own: `6.12.0-105.51.5.el10uek` is 6.12.51. */
const UEK = /^6\.(\d+)\.0-\d+\.(\d+)\..*\bel\d+(?:_\d+)?uek\b/;

/** Whether its number never says a point, but how often its distribution has mended something: `6.12.0-124.8.1.el10_1`, `6.11.0-29-generic`. */
export function hidesPoint(release: string): boolean {
  return /^\d+\.\d+\.0-\d/.test(release) && !UEK.test(release);
}

/**
 * Whether a filter of system calls (seccomp) is asked when a function returns that is watched: that is a system call of its own since 6.11, which none
 * knows, and most refuse or kill for it.
 */
export function filtersReturns(release: string, arch: "x86_64" | "aarch64"): boolean {
  return arch === "x86_64" && isBefore(release, UNFILTERED, 0);
}

/** By minor number of Linux 6, as {@link UNFILTERED}: who writes into a ring buffer spins for its lock, on a kernel for real time, too (CVE-2024-50138). */
const AWAKE: Readonly<Record<string, number>> = { 6: 84, 11: 6 };
/** Those, in words. */
export const AWAKE_RINGS = "Linux 6.6.84, 6.11.6 or 6.12";

/** Whether a program on a kernel for real time may sleep for a ring buffer's lock, where the scheduler, whom it interrupts, may not. */
export function sleepsInRing(release: string): boolean {
  return !isKernelAtLeast(release, 6, 12) && isBefore(release, AWAKE, Infinity);
}

/** Whether a Linux 6 is older than the point of its minor number; of a minor number that has none, and of other kernels, than `otherwise`. */
function isBefore(release: string, points: Readonly<Record<string, number>>, otherwise: number): boolean {
  const [, minor = "", point = 0] = UEK.exec(release) ?? /^6\.(\d+)(?:\.(\d+))?/.exec(release) ?? [];
  return Number(point) < (points[minor] ?? otherwise);
}
