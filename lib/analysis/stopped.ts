import type { Slice } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import { Intervals } from "./intervals.ts";

/**
 * When llmprof held processes still (`llmprof.stopped`). Spans arrive at their end, so a stop inside a slice is known before the slice is:
 * a duration can be corrected as soon as it is seen.
 */
export class StoppedTimes {
  readonly #byPid = new Map<number, Intervals>();

  add(slice: Slice): void {
    let intervals = this.#byPid.get(slice.track.pid);
    if (!intervals) this.#byPid.set(slice.track.pid, intervals = new Intervals());
    intervals.add(slice.start, slice.end);
  }

  /** Nanoseconds of [start, end) in which the process stood still. */
  within(pid: number, start: Ns, end: Ns): number {
    // The common case on the hot path: nothing was ever stopped.
    if (this.#byPid.size === 0) return 0;
    return this.#byPid.get(pid)?.overlap(start, end) ?? 0;
  }

  /** Nanoseconds of [start, end) in which the process could run. */
  net(pid: number, start: Ns, end: Ns): number {
    return end - start - this.within(pid, start, end);
  }

  /** Times at which any of the processes stood still; of all processes when none is named. */
  union(pids: Iterable<number> = this.#byPid.keys()): Intervals {
    const union = new Intervals();
    for (const pid of pids) {
      const intervals = this.#byPid.get(pid);
      if (intervals) union.addAll(intervals);
    }
    return union;
  }
}
