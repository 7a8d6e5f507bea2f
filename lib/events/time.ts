/**
 * One clock for every layer: bpftrace's `nsecs`, which is CLOCK_BOOTTIME (Perfetto's default clock).
 *
 * Nanoseconds since boot pass 2^53 after 104 days, so a run subtracts a base as early as possible: while a line is parsed. From then on
 * time is a plain number, exact to the nanosecond for 104 days on either side of the base.
 */

/** Nanoseconds of CLOCK_BOOTTIME since the run's base. */
export type Ns = number & { readonly __unit?: "ns since base" };

/** What turns an {@link Ns} back into absolute time; written into every trace. */
export interface Clock {
  readonly name: "boottime";
  /** CLOCK_BOOTTIME at `Ns` 0, in nanoseconds. */
  readonly base: bigint;
  /** CLOCK_REALTIME minus CLOCK_BOOTTIME in nanoseconds, read once at the start. */
  readonly realtimeOffset: bigint;
}

/** Absolute CLOCK_BOOTTIME in nanoseconds. */
export function boottime(clock: Clock, at: Ns): bigint {
  return clock.base + BigInt(Math.round(at));
}

/** The two halves in which {@link parseNs} subtracts: whole seconds and the nanoseconds within one. */
export interface Base {
  readonly seconds: number;
  readonly nanos: number;
}

export function splitBase(base: bigint): Base {
  return { seconds: Number(base / 1_000_000_000n), nanos: Number(base % 1_000_000_000n) };
}

/**
 * Parses the decimal digits in bytes [from, to) and subtracts the base, exactly, although the number itself may be above 2^53: seconds
 * (all but the last nine digits) and nanoseconds are subtracted apart. Returns NaN when a byte is no digit or there is none.
 */
export function parseNs(bytes: Uint8Array, from: number, to: number, base: Base): Ns {
  if (to <= from) return NaN;
  const split = Math.max(from, to - 9);
  return (wholeNumber(bytes, from, split) - base.seconds) * 1e9 + (wholeNumber(bytes, split, to) - base.nanos);
}

/** 0 for no digits. */
function wholeNumber(bytes: Uint8Array, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = bytes[at]! - 48;
    if (digit < 0 || digit > 9) return NaN;
    value = value * 10 + digit;
  }
  return value;
}
