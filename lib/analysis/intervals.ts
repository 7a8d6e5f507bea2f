import type { Ns } from "../events/time.ts";

/** Disjoint stretches of time in order: what is added may come in any order, nested or overlapping. */
export class Intervals {
  readonly #starts: Ns[] = [];
  readonly #ends: Ns[] = [];

  add(start: Ns, end: Ns): void {
    if (!(end > start)) return;
    // All that touch the new one become part of it. They come nearly sorted, so the place is looked for from the end.
    let to = this.#starts.length;
    while (to > 0 && this.#starts[to - 1]! > end) to--;
    let from = to;
    while (from > 0 && this.#ends[from - 1]! >= start) from--;
    const first = from < to ? Math.min(start, this.#starts[from]!) : start;
    const last = from < to ? Math.max(end, this.#ends[to - 1]!) : end;
    this.#starts.splice(from, to - from, first);
    this.#ends.splice(from, to - from, last);
  }

  addAll(other: Intervals): void {
    for (let i = 0; i < other.#starts.length; i++) this.add(other.#starts[i]!, other.#ends[i]!);
  }

  /** What of them lies in [start, end), the last first. */
  inside(start: Ns, end: Ns): (readonly [start: Ns, end: Ns])[] {
    const found: [Ns, Ns][] = [];
    for (let i = this.#ends.length - 1; i >= 0 && this.#ends[i]! > start; i--) {
      const from = Math.max(start, this.#starts[i]!), to = Math.min(end, this.#ends[i]!);
      if (to > from) found.push([from, to]);
    }
    return found;
  }

  /** How many nanoseconds of [start, end) they cover. */
  overlap(start: Ns, end: Ns): number {
    return this.inside(start, end).reduce((sum, [from, to]) => sum + to - from, 0);
  }

  /** How many stretches there are. */
  get count(): number {
    return this.#starts.length;
  }

  /** Nanoseconds in all. */
  get total(): number {
    return this.overlap(-Infinity, Infinity);
  }
}
