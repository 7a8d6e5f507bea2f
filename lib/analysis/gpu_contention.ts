import type { Ns } from "../events/time.ts";
import type { GpuResult } from "./gpu_schema.ts";

/** Calls for which the target waited, how long, and of each the logarithm of that; and the squares of both. */
export interface AskedOf {
  calls: number;
  ns: number;
  nsSquares: number;
  logs: number;
  logSquares: number;
}

/** `times`: -1 where it was made by another one, and does not count after all. */
export function count(asked: AskedOf, ns: number, times: 1 | -1 = 1): void {
  const log = Math.log(Math.max(ns, 1));
  asked.calls += times;
  asked.ns += times * ns;
  asked.nsSquares += times * ns ** 2;
  asked.logs += times * log;
  asked.logSquares += times * log ** 2;
}

/** Others are taken to be at it for so long after what they asked last. */
const AFTERWARDS_NS = 100e6;
/** So many of the last times when they were are known: a call that began before them counts for neither. */
const MOST_TIMES = 1000;
/** Too few calls to compare. */
const FEW = 5;
/** So many times as long is waiting. */
const SLOWER = 1.5;

/** What calls of one kind are compared by: its mean, of so many standard errors that are no chance, and as a time. */
interface Scale {
  of(asked: AskedOf): { readonly mean: number; readonly variance: number };
  ns(mean: number): number;
  readonly sure: number;
}

/**
 * How long a typical one takes. Among thousands of calls of a millisecond a few of a second, which wait for a prompt, are most of the time: of a plain mean it
 * would decide on which side those happen to be.
 */
const TYPICAL: Scale = { of: ({ calls, logs, logSquares }) => meanOf(calls, logs, logSquares), ns: Math.exp, sure: 3 };

/** And where a few wait long, and most do not: more than those of a prompt that happen to begin while somebody looks at the GPU. */
const PLAIN: Scale = { of: ({ calls, ns, nsSquares }) => meanOf(calls, ns, nsSquares), ns: (mean) => mean, sure: 4 };

/** Waiting for others is worth telling from so much of the time on: somebody who looks at the GPU every ten seconds takes less. */
const NOTICEABLE = 1e-4;

/** Whether the target waits for others that use its GPU. */
export class GpuContention {
  /** Who uses a GPU of the target's, or may. */
  readonly #others = new Map<number, string>();
  /** By what the target asked: one command takes a thousand times as long as another, whoever else is there. */
  readonly #asked = new Map<string, { readonly shared: AskedOf; readonly alone: AskedOf }>();
  /** When others have been at it, as far as it is kept. */
  readonly #times: { readonly from: Ns; to: Ns }[] = [];
  #knownFrom: Ns = -Infinity;
  #sharedNs = 0;

  /** Another process asked something of it. */
  other(pid: number, name: string, start: Ns, end: Ns): void {
    this.#others.set(pid, name);
    let last = this.#times.at(-1);
    if (!last || start > last.to + AFTERWARDS_NS) {
      this.#times.push(last = { from: start, to: start });
      if (this.#times.length > MOST_TIMES) this.#knownFrom = this.#times.shift()!.to + AFTERWARDS_NS;
    }
    if (end > last.to) {
      this.#sharedNs += end - last.to;
      last.to = end;
    }
  }

  /**
   * The target asked something of the driver, and went on when it was done, which took `ns`. Returns where that is counted: by when it began, as a call of
   * seconds lasts while somebody looks at the GPU each second, whether it waits for that or not.
   */
  asked(what: string, start: Ns, ns: number): AskedOf | undefined {
    if (start <= this.#knownFrom) return undefined;
    let asked = this.#asked.get(what);
    if (!asked) this.#asked.set(what, asked = { shared: none(), alone: none() });
    const last = this.#times.findLast(({ from }) => from <= start);
    const sums = last && start <= last.to + AFTERWARDS_NS ? asked.shared : asked.alone;
    count(sums, ns);
    return sums;
  }

  /** `watchedNs`: for how long everything was seen. */
  result(watchedNs: number): GpuResult["contention"] {
    if (this.#others.size === 0) return null;
    const asked = [...this.#asked.values()];
    const mean = (of: "shared" | "alone") => {
      const calls = asked.reduce((all, sums) => all + sums[of].calls, 0), ns = asked.reduce((all, sums) => all + sums[of].ns, 0);
      return { calls, meanNs: calls > 0 ? ns / calls : 0 };
    };
    // What was asked both ways: how long it took while others were at it, and how long it would have taken otherwise.
    const both = asked.filter(({ shared, alone }) => shared.calls >= FEW && alone.calls >= FEW);
    const ways = [TYPICAL, PLAIN].map((scale) => compared(both, scale));
    const { took, expected, isSlower } = ways.find((way) => way.isSlower) ?? ways[0]!;
    const slower = expected > 0 ? took / expected : null;
    const waits = isSlower && took - expected >= NOTICEABLE * watchedNs;
    return {
      others: [...this.#others].map(([pid, name]) => ({ pid, name })),
      sharedNs: this.#sharedNs,
      shared: mean("shared"),
      alone: mean("alone"),
      slower,
      waits,
      waitedNs: waits ? took - expected : 0,
    };
  }
}

function none(): AskedOf {
  return { calls: 0, ns: 0, nsSquares: 0, logs: 0, logSquares: 0 };
}

/** How long calls took while others were at it, and how long they would have taken otherwise. */
function compared(both: readonly { readonly shared: AskedOf; readonly alone: AskedOf }[], { of, ns, sure }: Scale) {
  let took = 0, expected = 0, longer = 0, variance = 0;
  for (const { shared, alone } of both) {
    const [during, otherwise] = [of(shared), of(alone)], { calls } = shared;
    took += calls * ns(during.mean);
    expected += calls * ns(otherwise.mean);
    longer += calls * (during.mean - otherwise.mean);
    variance += calls ** 2 * (during.variance + otherwise.variance);
  }
  return { took, expected, isSlower: took >= SLOWER * expected && longer > sure * Math.sqrt(variance) };
}

/** And how uncertain that is. */
function meanOf(calls: number, sum: number, squares: number): { readonly mean: number; readonly variance: number } {
  const mean = sum / calls;
  return { mean, variance: Math.max(squares / calls - mean ** 2, 0) / calls };
}
