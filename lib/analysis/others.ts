/** The most times first; further ones are in no list. */
const MAX_OTHERS = 5;

/** Threads of anybody, and what they had to do with the target's times. */
export class Others {
  readonly #all = new Map<number, { name: string; readonly tid: number; times: number; ns: number }>();

  add({ tid, name }: { readonly tid: number; readonly name: string }, ns: number, times = 1): void {
    let sums = this.#all.get(tid);
    if (!sums) this.#all.set(tid, sums = { name, tid, times: 0, ns: 0 });
    if (name !== "") sums.name = name;
    sums.times += times;
    sums.ns += ns;
  }

  addAll(others: Others): void {
    for (const { tid, name, ns, times } of others.#all.values()) this.add({ tid, name }, ns, times);
  }

  result() {
    return [...this.#all.values()].sort((a, b) => b.ns - a.ns || b.times - a.times).slice(0, MAX_OTHERS);
  }
}
