import type { Counter, Slice } from "../events/span.ts";
import type { ColdstartResult } from "./coldstart_schema.ts";
import type { Cached } from "./file_totals.ts";
import { errnoName } from "./errno.ts";

/** The files that matter are few and large. */
const MAX_FILES = 50;
const CACHE = "page cache filled";

/** What the kernel counted, and what it refused to lock. */
export class MemoryTotals {
  /** What entered the page cache, by the counter's name. Counters are cumulative: the last value is the total. */
  readonly #cached = new Map<string, Cached>();
  readonly #faults = new Map<number, number>();
  readonly #failures = new Map<string, { errno: string; count: number; bytes: number }>();
  #lockedBytes = 0;

  counter({ track, value }: Counter): void {
    if (track.name === "page faults") this.#faults.set(track.pid, value);
    else if (track.name.startsWith(CACHE)) {
      const file = track.name.slice(CACHE.length).replace(/^: /, "");
      this.#cached.set(file, { ...track.file, file, bytes: value });
    }
  }

  get cached(): Cached[] {
    return [...this.#cached.values()];
  }

  lock(slice: Slice): void {
    const bytes = Number(slice.args?.bytes ?? 0);
    const number = Math.abs(Number(slice.args?.errno ?? 0));
    if (number === 0) {
      if (!slice.open) this.#lockedBytes += bytes;
      return;
    }
    const errno = errnoName(number);
    let failure = this.#failures.get(errno);
    if (!failure) this.#failures.set(errno, failure = { errno, count: 0, bytes: 0 });
    failure.count++;
    failure.bytes += bytes;
  }

  /** Faults of these processes; the page cache belongs to the tree as a whole. */
  result(pids: ReadonlySet<number>): Pick<ColdstartResult, "pageCache" | "pageFaults" | "locks"> {
    const files = this.cached.map(({ file, bytes }) => ({ file, bytes })).sort((a, b) => b.bytes - a.bytes);
    const faults = [...this.#faults].filter(([pid]) => pids.has(pid));
    return {
      pageCache: files.length > 0 ? { bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), files: files.slice(0, MAX_FILES) } : null,
      pageFaults: faults.length > 0 ? faults.reduce((sum, [, count]) => sum + count, 0) : null,
      locks: { lockedBytes: this.#lockedBytes, failures: [...this.#failures.values()] },
    };
  }
}
