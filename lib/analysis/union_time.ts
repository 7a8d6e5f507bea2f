import type { Ns } from "../events/time.ts";
import { Intervals } from "./intervals.ts";

/**
 * For how long at least one of these went on. They come nearly in order: of more stretches than `most` the earlier half is settled, so that only a sum
 * of it is known.
 */
export class UnionTime {
  readonly #stretches = new Intervals();
  #settled = { from: Infinity, until: -Infinity, ns: 0 };

  constructor(readonly most = 8192) {}

  add(start: Ns, end: Ns): void {
    if (start < this.#settled.until) this.#late(start, end);
    this.#stretches.add(Math.max(start, this.#settled.until), end);
    if (this.#stretches.count > this.most) this.#settle(this.#stretches.settle(this.most / 2));
  }

  merge(other: UnionTime): void {
    for (const [start, end] of other.#stretches) this.add(start, end);
    this.#settle(other.#settled);
  }

  get ns(): number {
    return this.#settled.ns + this.#stretches.total;
  }

  /** One that lasted for longer than many others comes behind them, and fills what was free between those. */
  #late(start: Ns, end: Ns): void {
    const { from, until, ns } = this.#settled, free = 1 - ns / (until - from);
    const before = Math.max(0, Math.min(end, from) - start), inside = Math.max(0, Math.min(end, until) - Math.max(start, from));
    this.#settle({ from: start, until, ns: before + Math.round(inside * free) });
  }

  #settle({ from, until, ns }: { readonly from: Ns; readonly until: Ns; readonly ns: number }): void {
    const settled = { from: Math.min(this.#settled.from, from), until: Math.max(this.#settled.until, until) };
    this.#settled = { ...settled, ns: Math.min(this.#settled.ns + ns, Math.max(0, settled.until - settled.from)) };
  }
}
