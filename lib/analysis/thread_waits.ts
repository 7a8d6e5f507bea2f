import { Others } from "./others.ts";

/** Why threads are on no processor, one object for all of them. */
export interface Why {
  readonly reason: string;
  /** System call; null: in none. */
  readonly call: string | null;
}

/** Times off a processor, until the thread was woken. */
interface Sums {
  times: number;
  ns: number;
  readonly wakers: Others;
}

export type CallWait = Why & Readonly<Sums>;

/** What a thread, or several, waited for. `mostWakers`: of so many it is known, for each reason, who woke it. */
export class ThreadWaits {
  readonly #all = new Map<Why, Sums>();

  constructor(readonly mostWakers = 128) {}

  add(why: Why, times: number, ns: number): Others {
    let sums = this.#all.get(why);
    if (!sums) this.#all.set(why, sums = { times: 0, ns: 0, wakers: new Others(this.mostWakers) });
    sums.times += times;
    sums.ns += ns;
    return sums.wakers;
  }

  addAll(waits: ThreadWaits): void {
    for (const [why, { times, ns, wakers }] of waits.#all) this.add(why, times, ns).addAll(wakers);
  }

  /** Most time first, in sum and of each reason's calls. */
  result() {
    const rows = [...this.#all].map(([{ reason, call }, sums]): CallWait => ({ reason, call, ...sums })).sort((a, b) => b.ns - a.ns);
    return [...Map.groupBy(rows, ({ reason }) => reason)].map(([reason, calls]) => ({
      reason,
      times: calls.reduce((sum, { times }) => sum + times, 0),
      ns: calls.reduce((sum, { ns }) => sum + ns, 0),
      calls,
    })).sort((a, b) => b.ns - a.ns);
  }
}
