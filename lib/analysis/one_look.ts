import type { Ns } from "../events/time.ts";

/** What all processes have of each kind, as far as that was told at one look: each counter comes with its time. */
export class OneLook<Kind> {
  #at: Ns = NaN;
  #sums = new Map<Kind, number>();

  /** With what was told at the same time; another look begins anew, and leaves the one before as it was. */
  add(kind: Kind, amount: number, at: Ns): ReadonlyMap<Kind, number> {
    if (this.#at !== at) [this.#at, this.#sums] = [at, new Map()];
    this.#sums.set(kind, (this.#sums.get(kind) ?? 0) + amount);
    return this.#sums;
  }
}
