import type { Slice } from "../events/span.ts";
import type { Ns } from "../events/time.ts";

/** Operators of a thread that has not told any for long: it computes none. */
const MOST_PENDING = 1024;

export interface Preempted {
  times: number;
  ns: number;
}

interface Taken extends Preempted {
  readonly start: Ns;
}

/** When somebody else took the processor from a thread, until its operators, which are told when they have ended, ask for what was inside them. */
export class Preemptions {
  /** By process and thread, in order. */
  readonly #pending = new Map<string, Taken[]>();
  /** Whether anybody watches. */
  seen = false;

  /** A time off a processor has ended. */
  off({ track, start, end, off }: Slice): void {
    this.seen = true;
    if (off?.reason !== "preempted") return;
    const { pid, tid } = off.run?.thread ?? track;
    const key = `${pid} ${tid}`;
    let pending = this.#pending.get(key);
    if (!pending) this.#pending.set(key, pending = []);
    if (pending.length === MOST_PENDING) pending.shift();
    pending.push({ start, times: off.run?.times ?? 1, ns: off.run?.ns ?? end - start });
  }

  /** Those that began in [start, end). It is asked in order, and what is older is nobody's any more. */
  within(pid: number, tid: number, start: Ns, end: Ns): Preempted {
    const sum = { times: 0, ns: 0 };
    const pending = this.#pending.get(`${pid} ${tid}`);
    while (pending && pending.length > 0 && pending[0]!.start < end) {
      const taken = pending.shift()!;
      if (taken.start < start) continue;
      sum.times += taken.times;
      sum.ns += taken.ns;
    }
    return sum;
  }
}
