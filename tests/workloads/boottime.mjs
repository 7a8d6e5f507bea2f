/**
 * CLOCK_BOOTTIME for scripts that run on node or Deno, which offer only CLOCK_MONOTONIC (`process.hrtime`). The two differ by the time that
 * the machine slept since it started: nothing else, so the difference is exactly 0 on a machine that never slept.
 */
import { readFileSync } from "node:fs";

/**
 * Reads the difference once. Exact where it is 0 (`/proc/uptime`, which is CLOCK_BOOTTIME cut to 10 ms, lies where CLOCK_MONOTONIC says)
 * and for root (`/proc/timer_list` prints it in nanoseconds); otherwise known to 10 ms.
 *
 * @returns {{ offsetNs: bigint, source: "never slept" | "timer_list" | "uptime", uncertaintyNs: number }}
 */
export function boottimeOffset() {
  const before = process.hrtime.bigint();
  const [seconds, hundredths] = readFileSync("/proc/uptime", "utf8").split(" ")[0].split(".");
  const after = process.hrtime.bigint();
  const uptime = BigInt(seconds) * 1_000_000_000n + BigInt(hundredths) * 10_000_000n;
  if (uptime >= before - 10_000_000n && uptime <= after) return { offsetNs: 0n, source: "never slept", uncertaintyNs: 0 };
  const exact = fromTimerList();
  if (exact !== null) return { offsetNs: exact, source: "timer_list", uncertaintyNs: 0 };
  return { offsetNs: uptime - after, source: "uptime", uncertaintyNs: 10_000_000 };
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
