/** The most time first; further ones are in no list. */
const MAX_OTHERS = 5;

/** Known at once, of all threads together, for each reason. */
export const MOST_OTHERS = 4096;

interface Sums {
  name: string;
  readonly tid: number;
  times: number;
  ns: number;
  /** So much more at most: of times before it was known, or known again. */
  uncountedNs: number;
}

/**
 * Threads of anybody, and what they had to do with the target's times. `most` are known at once: among ten thousand threads that wake one another there is
 * no room for all of them in each. When there are more, those that have the least are forgotten, until half as many are left. As whoever comes next may
 * have had as much as the last one of these, `2 / most` of all time suffices to stay known.
 */
export class Others {
  readonly #all = new Map<number, Sums>();
  /** Nobody who was forgotten had more. */
  #forgottenNs = 0;

  constructor(readonly most: number) {}

  add({ tid, name }: { readonly tid: number; readonly name: string }, ns: number, times = 1): void {
    this.#add(tid, name, ns, times);
    this.#forget();
  }

  addAll(others: Others): void {
    for (const sums of this.#all.values()) if (!others.#all.has(sums.tid)) sums.uncountedNs += others.#forgottenNs;
    for (const { tid, name, ns, times, uncountedNs } of others.#all.values()) this.#add(tid, name, ns, times).uncountedNs += uncountedNs;
    this.#forgottenNs += others.#forgottenNs;
    this.#forget();
  }

  /** Without those that may have had less than somebody who was forgotten. */
  result(): Readonly<Sums>[] {
    const known = [...this.#all.values()].filter(({ ns }) => ns >= this.#forgottenNs);
    return known.sort((a, b) => b.ns - a.ns || b.times - a.times).slice(0, MAX_OTHERS);
  }

  #add(tid: number, name: string, ns: number, times: number): Sums {
    let sums = this.#all.get(tid);
    if (!sums) this.#all.set(tid, sums = { name, tid, times: 0, ns: 0, uncountedNs: this.#forgottenNs });
    if (name !== "") sums.name = name;
    sums.times += times;
    sums.ns += ns;
    return sums;
  }

  #forget(): void {
    if (this.#all.size <= this.most) return;
    const mostNs = ({ ns, uncountedNs }: Sums) => ns + uncountedNs;
    const least = [...this.#all.values()].sort((a, b) => mostNs(a) - mostNs(b)).slice(0, this.#all.size - this.most / 2);
    for (const { tid } of least) this.#all.delete(tid);
    this.#forgottenNs = mostNs(least.at(-1)!);
  }
}

/** Behind a count or a time of one of them. */
export function orMore({ uncountedNs }: Pick<Sums, "uncountedNs">): string {
  return uncountedNs > 0 ? " or more" : "";
}
