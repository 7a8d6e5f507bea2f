import type { Ns } from "../lib/events/time.ts";

/** How a slice lies to those that were drawn on its row before. */
export type Relation = "overlaps" | "inside" | "begins with" | "last";

/**
 * The slices of a row that none of its others encloses, as times: what a slice that comes later can overlap. They follow each other and have no time in
 * common, so that one that comes in the order of ends, as most do, looks at those that it encloses, and at one more.
 */
export class Outermost {
  #starts = new Float64Array(8);
  #ends = new Float64Array(8);
  #count = 0;

  /**
   * Takes it in unless it `overlaps` one, or is `inside` of one: of what else is there nothing is known here. It `begins with` what it encloses, or is
   * the `last` that ends: apart from all, or around others that begin later. Of more than `most` the older half is forgotten.
   */
  add(start: Ns, end: Ns, most: number): Relation {
    const starts = this.#starts, ends = this.#ends;
    let behind = this.#count;
    while (behind > 0 && starts[behind - 1]! >= end && starts[behind - 1]! > start) behind--;
    let first = behind;
    for (; first > 0 && starts[first - 1]! >= start; first--) {
      const begin = starts[first - 1]!, over = ends[first - 1]!;
      if (begin === start && over >= end) return "inside";
      if (over > end) return "overlaps";
    }
    if (first > 0 && ends[first - 1]! > start) return ends[first - 1]! < end ? "overlaps" : "inside";
    const relation = first < behind && starts[first] === start ? "begins with" : "last";
    this.#put(first, behind, start, end);
    if (this.#count > most) this.#move(this.#count >> 1, 0);
    return relation;
  }

  /** In place of those from `first` to `behind`. */
  #put(first: number, behind: number, start: Ns, end: Ns): void {
    if (this.#count === this.#starts.length) {
      const [starts, ends] = [this.#starts, this.#ends];
      this.#starts = new Float64Array(2 * this.#count);
      this.#ends = new Float64Array(2 * this.#count);
      this.#starts.set(starts);
      this.#ends.set(ends);
    }
    this.#move(behind, first + 1);
    this.#starts[first] = start;
    this.#ends[first] = end;
  }

  /** Those behind `from`, to where they shall be. */
  #move(from: number, to: number): void {
    if (from < this.#count) {
      this.#starts.copyWithin(to, from, this.#count);
      this.#ends.copyWithin(to, from, this.#count);
    }
    this.#count += to - from;
  }
}
