import type { Clock, Ns } from "../events/time.ts";
import type { ClockReading } from "../tracing/clock_line.ts";

/** Reads time in milliseconds on a clock that goes on evenly, as `performance.now()` does. */
export type Monotonic = () => number;

/**
 * llmprof's own reading of CLOCK_BOOTTIME, for what it does itself. Deno cannot read that clock; a program printed it beside the wall clock,
 * and from there on the process's own monotonic clock counts. Exact to about a tenth of a millisecond, and to a heartbeat after the machine
 * was asleep: the monotonic clock stands still meanwhile, and CLOCK_BOOTTIME does not.
 */
export class HostClock implements Clock {
  readonly name = "boottime";
  /** When the program that it was read by began. */
  readonly began: bigint;
  readonly base: bigint;
  readonly realtimeOffset: bigint;
  #offsetMs: number;
  /** By a heartbeat: until then it may be wrong by as much as the wall clock was set while the reading was on its way. */
  #isSet = false;

  /** @param origin Wall-clock milliseconds at which `monotonic` was 0, by the wall clock that the reading is of. */
  constructor(reading: ClockReading, readonly monotonic: Monotonic, origin: number) {
    this.began = reading.boottime;
    // A round base makes recordings easier to read.
    this.base = reading.boottime - reading.boottime % 1_000_000_000n;
    this.realtimeOffset = reading.realtime - reading.boottime;
    this.#offsetMs = origin - Number(this.base + this.realtimeOffset) / 1e6;
  }

  /**
   * A heartbeat that a program printed is in the past. Were this clock behind it, llmprof's stream would hold back all others by as much. Returns for
   * how long the machine was asleep since the last one, a moment more or less.
   */
  notBefore(at: Ns): Ns {
    const behind = Math.max(0, at - this.now()), slept = this.#isSet ? behind : 0;
    this.#offsetMs += behind / 1e6;
    this.#isSet = true;
    return slept;
  }

  now(): Ns {
    return (this.monotonic() + this.#offsetMs) * 1e6;
  }

  boottime(): bigint {
    return this.base + BigInt(Math.round(this.now()));
  }
}
