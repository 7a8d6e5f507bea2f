import type { Fact } from "../events/fact.ts";
import type { HostClock } from "../session/clock.ts";

/**
 * Less is what a processor that somebody else had makes of two clocks that are read one after the other, and by how much a heartbeat is late by which
 * the run's clock is set after a sleep (30 ms). A wall clock that is wrong by less than an eighth of a second, NTP sets by making it go faster.
 */
const LEAST_MS = 100;

/** Whether the wall clock has been set, as facts: at boot, before it was known what time it is, or when a virtual machine goes on. */
export class WatchedWallClock {
  #told = 0;
  #seen = 0;

  /** `clock`: of the run; asked when it counts. */
  constructor(readonly clock: () => HostClock, readonly wall: () => number = Date.now) {}

  /** To be asked again and again: what is seen once may be nothing but a clock that is behind, as after a sleep until the next heartbeat. */
  look(): Fact[] {
    const clock = this.clock(), before = this.#seen;
    const seen = this.#seen = Math.round(this.wall() - Number(clock.boottime() + clock.realtimeOffset) / 1e6);
    if (Math.abs(seen - before) > LEAST_MS || Math.abs(seen - this.#told) <= LEAST_MS) return [];
    this.#told = seen;
    return [{ fact: "wallClock", shiftMs: seen }];
  }
}
