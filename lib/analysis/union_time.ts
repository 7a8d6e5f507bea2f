import type { Ns } from "../events/time.ts";
import { Intervals } from "./intervals.ts";

/** For how long at least one of these went on. They come nearly in order: of more stretches than `most` the earlier half is settled. */
export class UnionTime {
  readonly #stretches = new Intervals();
  #settledNs = 0;

  constructor(readonly most = 8192) {}

  add(start: Ns, end: Ns): void {
    this.#stretches.add(start, end);
    if (this.#stretches.count > this.most) this.#settledNs += this.#stretches.settle(this.most / 2);
  }

  merge(other: UnionTime): void {
    for (const [start, end] of other.#stretches) this.add(start, end);
    this.#settledNs += other.#settledNs;
  }

  get ns(): number {
    return this.#settledNs + this.#stretches.total;
  }
}
