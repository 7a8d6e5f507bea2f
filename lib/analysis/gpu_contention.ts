import type { Ns } from "../events/time.ts";
import type { GpuResult } from "./gpu_schema.ts";

/** Calls for which the target waited, how long, and of each the logarithm of that, and its square. */
export interface AskedOf {
  calls: number;
  ns: number;
  logs: number;
  squares: number;
}

/** `times`: -1 where it was made by another one, and does not count after all. */
export function count(asked: AskedOf, ns: number, times: 1 | -1 = 1): void {
  const log = Math.log(Math.max(ns, 1));
  asked.calls += times;
  asked.ns += times * ns;
  asked.logs += times * log;
  asked.squares += times * log ** 2;
}

/** Others are taken to be at it for so long after what they asked last. */
const AFTERWARDS_NS = 100e6;
/** So many of the last times when they were are known: a call that began before them counts for neither. */
const MOST_TIMES = 1000;
/** Too few calls to compare. */
const FEW = 5;
/** So many times as long is waiting. */
const SLOWER = 1.5;
/** So many standard errors are no chance. */
const SURE = 3;
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
    let took = 0, expected = 0, longer = 0, variance = 0;
    for (const { shared, alone } of both) {
      const [during, otherwise] = [typical(shared), typical(alone)], { calls } = shared;
      took += calls * Math.exp(during.log);
      expected += calls * Math.exp(otherwise.log);
      longer += calls * (during.log - otherwise.log);
      variance += calls ** 2 * (during.variance + otherwise.variance);
    }
    const slower = expected > 0 ? took / expected : null;
    const isSure = longer > SURE * Math.sqrt(variance);
    const waits = slower !== null && slower >= SLOWER && isSure && took - expected >= NOTICEABLE * watchedNs;
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
  return { calls: 0, ns: 0, logs: 0, squares: 0 };
}

/**
 * How long a typical one takes, as a logarithm, and how uncertain that is. Among thousands of calls of a millisecond a few of a second, which wait for a prompt,
 * are most of the time: of a plain mean it would decide on which side those happen to be.
 */
function typical({ calls, logs, squares }: AskedOf): { log: number; variance: number } {
  const log = logs / calls;
  return { log, variance: Math.max(squares / calls - log ** 2, 0) / calls };
}
