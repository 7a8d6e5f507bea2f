/**
 * CLOCK_BOOTTIME for scripts that run on node or Deno. The first offers CLOCK_MONOTONIC (`process.hrtime`): the two differ by the time that the
 * machine slept since it started, which is exactly 0 on a machine that never slept. The other counts from when the script was started.
 */
import { readFileSync } from "node:fs";

/** `/proc/uptime` is CLOCK_BOOTTIME cut to that. */
const CUT = 10_000_000n;

/**
 * Reads the difference once. Exact where it is 0 (`/proc/uptime` lies where CLOCK_MONOTONIC says) and for root (`/proc/timer_list` prints it in
 * nanoseconds); otherwise it is never too large, and too small by `uncertaintyNs` at most.
 *
 * @returns {{ offsetNs: bigint, source: "never slept" | "timer_list" | "uptime", uncertaintyNs: number }}
 */
export function boottimeOffset() {
  const { before, uptime, after } = look();
  const fits = (offset) => uptime >= before + offset - CUT && uptime <= after + offset;
  if (fits(0n)) return { offsetNs: 0n, source: "never slept", uncertaintyNs: 0 };
  const exact = fromTimerList();
  if (exact !== null && fits(exact)) return { offsetNs: exact, source: "timer_list", uncertaintyNs: 0 };
  // Whoever gets no processor just then sees it late.
  const looks = [nextHundredth()];
  while (looks[0].uncertaintyNs > 100_000 && looks.length < 20) looks.unshift(nextHundredth());
  return { ...looks.reduce((a, b) => a.uncertaintyNs < b.uncertaintyNs ? a : b), source: "uptime" };
}

function look() {
  const before = process.hrtime.bigint();
  const [seconds, hundredths] = readFileSync("/proc/uptime", "utf8").split(" ")[0].split(".");
  const after = process.hrtime.bigint();
  return { before, uptime: BigInt(seconds) * 1_000_000_000n + BigInt(hundredths) * CUT, after };
}

/** As it begins, `/proc/uptime` is exact: between the last look that does not see it and the first that does. */
function nextHundredth() {
  for (let last = look();;) {
    const next = look();
    if (next.uptime > last.uptime) return { offsetNs: next.uptime - next.after, uncertaintyNs: Number(next.after - last.before) };
    last = next;
  }
}

/** `  .get_time:   ktime_get_boottime\n  .offset:     12345 nsecs`, readable by root only. */
function fromTimerList() {
  try {
    const found = /ktime_get_boottime\s+\.offset:\s+(\d+) nsecs/.exec(readFileSync("/proc/timer_list", "utf8"));
    return found && BigInt(found[1]);
  } catch {
    return null;
  }
}
