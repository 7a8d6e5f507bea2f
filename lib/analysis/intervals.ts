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
    // Nearly every one lies behind all others or makes one of them longer: nothing has to move.
    if (to - from === 1 || from === this.#starts.length) {
      this.#starts[from] = first;
      this.#ends[from] = last;
      return;
    }
    this.#starts.splice(from, to - from, first);
    this.#ends.splice(from, to - from, last);
  }

  addAll(other: Intervals): void {
    for (const [start, end] of other) this.add(start, end);
  }

  /** How many nanoseconds of [start, end) they cover. */
  overlap(start: Ns, end: Ns): number {
    let sum = 0;
    for (let i = this.#ends.length - 1; i >= 0 && this.#ends[i]! > start; i--) {
      const covered = Math.min(end, this.#ends[i]!) - Math.max(start, this.#starts[i]!);
      if (covered > 0) sum += covered;
    }
    return sum;
  }

  /** Forgets the first `count` stretches: where they lie, and how many nanoseconds they are. What is added later there is counted twice. */
  settle(count: number): { readonly from: Ns; readonly until: Ns; readonly ns: number } {
    const starts = this.#starts.splice(0, count), ends = this.#ends.splice(0, count);
    return { from: starts[0] ?? Infinity, until: ends.at(-1) ?? -Infinity, ns: starts.reduce((sum, start, i) => sum + ends[i]! - start, 0) };
  }

  *[Symbol.iterator](): Iterator<readonly [start: Ns, end: Ns]> {
    for (let i = 0; i < this.#starts.length; i++) yield [this.#starts[i]!, this.#ends[i]!];
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
