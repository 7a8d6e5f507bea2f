import type { Clock, Ns } from "../lib/events/time.ts";
import { splitBase } from "../lib/events/time.ts";

/**
 * Writes an {@link Ns} as absolute CLOCK_BOOTTIME in nanoseconds, every digit exact. Seconds and nanoseconds are added apart and put
 * together as text, because the sum may be above 2^53 and a BigInt per span is slow.
 */
export function absolute(clock: Clock): (at: Ns) => string {
  const base = splitBase(clock.base);
  return (at) => {
    const nanos = base.nanos + Math.round(at);
    const carry = Math.floor(nanos / 1e9);
    const seconds = base.seconds + carry;
    // Before the boot: a broken time, but its text must not be broken too.
    if (seconds < 0) return String(BigInt(seconds) * 1_000_000_000n + BigInt(nanos - carry * 1e9));
    const rest = String(nanos - carry * 1e9);
    return seconds === 0 ? rest : seconds + rest.padStart(9, "0");
  };
}

/** Writes nanoseconds as microseconds, as a JSON number with at most three decimals: 1234567 → `1234.567`. */
export function micros(nanoseconds: number): string {
  const rounded = Math.round(nanoseconds);
  const size = Math.abs(rounded);
  const sign = rounded < 0 ? "-" : "";
  const rest = size % 1000;
  // Beyond 2^53 the difference has been rounded: the broken times of a recording get there.
  const whole = Math.floor((size - rest) / 1000);
  return rest === 0 ? `${sign}${whole}` : `${sign}${whole}.${String(rest).padStart(3, "0")}`;
}
