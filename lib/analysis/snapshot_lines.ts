import type { IoSnapshot, SchedSnapshot } from "./snapshots_schema.ts";
import { beginOf, goesOn, type Interval, placeBefore, secondsOf } from "./stretches.ts";

/** How lines of a kind are put together. */
interface Rules<Line> {
  /** Of a line and the next one. */
  readonly joined: (line: Line, next: Line) => Line;
  /** Whether what a line says of its end can be subtracted from what a later one says. */
  readonly isComparable: (line: Line, next: Line) => boolean;
}

/**
 * Lines by file. Each may tell of hundreds of processes, and there are 17,000 a day: once there are too many, neighbours become one. That changes no sum, and
 * what becomes one is as long as a quarter of `most` of them is of all the time, or shorter.
 */
export class SnapshotLines<Line extends Interval> {
  readonly #files = new Map<string, Line[]>();
  #held = 0;
  #limit: number;

  constructor(readonly rules: Rules<Line>, readonly most: number) {
    this.#limit = most;
  }

  add(line: Line, file: string): void {
    const lines = this.#files.get(file);
    if (lines) lines.push(line);
    else this.#files.set(file, [line]);
    if (++this.#held > this.#limit) this.#join();
  }

  /** How many there are: `most`, unless more runs went on at once, or more pauses are between them. */
  get held(): number {
    return this.#held;
  }

  /** By file, in order of their ends. */
  get files(): Map<string, Line[]> {
    return new Map([...this.#files].map(([file, lines]) => [file, inOrder(lines)]));
  }

  #join(): void {
    const longest = secondsOf([...this.#files.values()].flat()) / (this.most / 4);
    this.#held = 0;
    for (const [file, lines] of this.#files) {
      const kept = this.#joined(inOrder(lines), longest);
      this.#files.set(file, kept);
      this.#held += kept.length;
    }
    // Where little could be put together, not soon again.
    this.#limit = Math.max(this.most, 2 * this.#held);
  }

  #joined(lines: readonly Line[], longest: number): Line[] {
    const kept: Line[] = [], comparable = new Set<Line>();
    for (const line of lines) {
      const at = placeBefore(kept, line), before = kept[at];
      const isComparable = before !== undefined && this.rules.isComparable(before, line);
      // The first of a run stays alone: the others are compared with its end.
      const isOne = isComparable && comparable.has(before) && goesOn(before, line) && line.timestamp - beginOf(before) <= longest;
      const next = isOne ? this.rules.joined(before, line) : line;
      if (isOne) kept.splice(at, 1);
      kept.push(next);
      if (isComparable) comparable.add(next);
    }
    return kept;
  }
}

export function inOrder<Line extends Interval>(lines: readonly Line[]): Line[] {
  return lines.toSorted((a, b) => a.timestamp - b.timestamp);
}

/** Of both together. */
function timeOf(line: Interval, next: IoSnapshot | SchedSnapshot) {
  return { timestamp: next.timestamp, iso_timestamp: next.iso_timestamp, interval_s: next.timestamp - beginOf(line) };
}

/** Requests are added up; in flight is the most that either said. */
export const IO_LINES: Rules<IoSnapshot> = {
  isComparable: () => true,
  joined(line, next) {
    const histograms = Map.groupBy([...line.latency_histogram, ...next.latency_histogram], ({ device_name }) => device_name);
    const inFlight = Map.groupBy([...line.inflight, ...next.inflight], ({ device_name }) => device_name);
    return {
      ...timeOf(line, next),
      latency_histogram: [...histograms].map(([device_name, all]) => ({
        device_name,
        total: all.reduce((sum, { total }) => sum + total, 0),
        buckets: [...Map.groupBy(all.flatMap(({ buckets }) => buckets), ({ slot }) => slot).values()].map((same) => (
          { ...same[0]!, count: same.reduce((sum, { count }) => sum + count, 0) }
        )),
      })),
      inflight: [...inFlight].map(([device_name, all]) => ({ device_name, count: Math.max(...all.map(({ count }) => count)) })),
    };
  },
};

export const RESOURCES = ["cpu", "io", "memory"] as const, STALLS = ["some", "full"] as const;

/** What the kernel has added up since it began, in µs. */
export function stalledSince(line: SchedSnapshot | undefined, resource: typeof RESOURCES[number], stall: typeof STALLS[number]): number | undefined {
  return line?.pressure[resource]?.[stall]?.total;
}

/** Times and faults are added up; the kernel has added up its own. */
export const SCHED_LINES: Rules<SchedSnapshot> = {
  isComparable: (line, next) =>
    RESOURCES.every((resource) =>
      STALLS.every((stall) => {
        const since = stalledSince(line, resource, stall), total = stalledSince(next, resource, stall);
        return since === undefined || total === undefined ? since === total : since <= total;
      })
    ),
  joined: (line, next) => ({
    ...timeOf(line, next),
    off_cpu_ns: added(line.off_cpu_ns, next.off_cpu_ns),
    page_faults: added(line.page_faults, next.page_faults),
    pressure: next.pressure,
  }),
};

function added(sums: SchedSnapshot["off_cpu_ns"], more: SchedSnapshot["off_cpu_ns"]): SchedSnapshot["off_cpu_ns"] {
  const all = { ...sums };
  for (const [key, value] of Object.entries(more)) all[key] = (all[key] ?? 0) + value;
  return all;
}
