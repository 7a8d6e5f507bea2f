import type { OffCpu, Slice, Track } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import { isRunnable } from "../../probes/sched/reason.ts";
import { Intervals } from "./intervals.ts";
import type { SchedThread } from "./sched_schema.ts";
import { ThreadWaits, type Why } from "./thread_waits.ts";

/** What one thread did with its time: on a processor, queued for one, or waiting. */
export class ThreadTimes {
  /** Since when it is watched; NaN: it is not. */
  #first: Ns;
  /** Since when it runs; NaN: it is off. */
  #since: Ns;
  #last: Ns;
  /** It has said that it ends, and is on its way out. */
  #exits = false;
  /** On which processors it might run then. */
  #affinity: string | null = null;
  #seenNs = 0;
  #onNs = 0;
  #queuedNs = 0;
  /** When it was watched. */
  readonly lives = new Intervals();
  /** First turns and times taken from it are none. */
  readonly waits = new ThreadWaits();
  #voluntary = 0;
  #involuntary = 0;
  #yielded = 0;
  #yieldedNs = 0;
  #migrations = 0;
  /** On which it runs. */
  #cpu = 0;
  /** By processor: how long it ran there. */
  readonly onByCpu = new Map<number, number>();

  /** Seen for the first time at `at`, when it leaves its processor, or begins to run. */
  constructor(readonly track: Track, at: Ns, runs: boolean) {
    this.#first = this.#last = at;
    this.#since = runs ? at : NaN;
  }

  /** `net`: nanoseconds of a time, without those in which llmprof held the process. */
  off({ start, end, open, off }: Slice, net: (from: Ns, to: Ns) => number, why: Why): void {
    const { reason, queuedNs, from, cpu } = off!;
    // Another thread has got its number.
    if (reason === "new") this.#exits = false;
    // Who waits for its end is woken, and may take its processor. When it leaves that for good is not seen.
    if (this.#exits) this.#first = this.#since = this.#last;
    if (Number.isNaN(this.#first)) this.#first = start;
    if (!Number.isNaN(this.#since)) this.#ran(net(this.#since, start), from);
    const ns = net(start, end);
    this.#wasOff(off!, why, 1, ns, Math.min(queuedNs, ns));
    this.#since = open ? NaN : end;
    this.#cpu = cpu;
    this.#last = end;
    if (this.#exits) this.ends(end, net);
  }

  /** Several short times off, and what it ran between them. */
  offs({ start, end, off }: Slice, net: (from: Ns, to: Ns) => number, why: Why): void {
    const { queuedNs, from, cpu } = off!, { times, ns } = off!.run!;
    // One that is told late lies in a time that counts as on a processor already.
    if (start >= this.#since) {
      this.#ran(net(this.#since, start), from);
      this.#ran(net(start, end), cpu);
      this.#since = end;
      this.#cpu = cpu;
    }
    this.#ran(-ns, cpu);
    this.#wasOff(off!, why, times, ns, queuedNs);
  }

  exits(at: Ns, net: (from: Ns, to: Ns) => number, affinity: string | null): void {
    if (this.#exits) return;
    this.ends(at, net);
    this.#exits = true;
    this.#affinity = affinity;
  }

  /** A program begins in it. True where it had ended: another thread of its process has taken its number. */
  begins(at: Ns): boolean {
    if (!this.#exits) return false;
    this.#exits = false;
    this.#first = this.#since = this.#last = at;
    return true;
  }

  /** It is not watched any more; who is off has been told to be off until then. */
  ends(at: Ns, net: (from: Ns, to: Ns) => number): void {
    if (Number.isNaN(this.#first)) return;
    if (!Number.isNaN(this.#since)) {
      this.#ran(net(this.#since, at), this.#cpu);
      this.#last = Math.max(this.#last, at);
    }
    this.#seenNs += net(this.#first, this.#last);
    this.lives.add(this.#first, this.#last);
    this.#first = this.#since = NaN;
  }

  #wasOff({ reason, waker, migrated }: OffCpu, why: Why, times: number, ns: number, queued: number): void {
    this.#queuedNs += queued;
    if (migrated) this.#migrations += times;
    // A first turn is no switch.
    if (reason === "new") return;
    if (isRunnable(reason)) {
      this.#involuntary += times;
      if (reason !== "yielded") return;
      this.#yielded += times;
      this.#yieldedNs += queued;
      return;
    }
    this.#voluntary += times;
    const waited = ns - queued, wakers = this.waits.add(why, times, waited);
    if (waker) wakers.add(waker, waited, times);
  }

  #ran(ns: number, cpu: number): void {
    this.#onNs += ns;
    this.onByCpu.set(cpu, (this.onByCpu.get(cpu) ?? 0) + ns);
  }

  /** `affinity`: as its process is told of now, where it may be in no list any more. */
  result(name: string, affinity: string | null): SchedThread {
    const { pid, tid } = this.track;
    const waits = this.waits.result().map(({ reason, times, ns }) => ({ reason, times, ns }));
    return {
      pid,
      tid: tid!,
      name,
      affinity: (this.#exits ? this.#affinity : null) ?? affinity,
      seenNs: this.#seenNs,
      onNs: this.#onNs,
      queuedNs: this.#queuedNs,
      waits,
      voluntary: this.#voluntary,
      involuntary: this.#involuntary,
      yielded: this.#yielded,
      yieldedNs: this.#yieldedNs,
      migrations: this.#migrations,
    };
  }
}
