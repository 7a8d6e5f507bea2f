import type { Instant, Limits, Mark, OffCpu, Slice, Span, Track } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import type { Analysis } from "./analysis.ts";
import { Histogram } from "./histogram.ts";
import { QualityCount } from "./quality.ts";
import type { SchedResult } from "./sched_schema.ts";
import { schedVerdict } from "./sched_verdict.ts";
import { StoppedTimes } from "./stopped.ts";
import { SystemCalls } from "./system_calls.ts";
import { ThreadTimes } from "./thread_times.ts";
import { Windows } from "./windows.ts";

/** Where threads are when they are on no processor. `cpus`: how many the machine has, as far as that is known. */
export function sched(cpus: number | null): Analysis<SchedResult> {
  return new SchedAnalysis(cpus);
}

/** Of threads beside the target, the most times first; further ones are in no list. */
const MAX_OTHERS = 5;

interface Wait {
  readonly reason: string;
  readonly call: string | null;
  readonly ended: Histogram;
  totalNs: number;
  times: number;
  queuedNs: number;
  readonly wakers: Others;
}

class SchedAnalysis implements Analysis<SchedResult> {
  readonly #stopped = new StoppedTimes();
  readonly #threads = new Map<Track, ThreadTimes>();
  readonly #names = new Map<Track, string>();
  readonly #waits = new Map<string, Wait>();
  readonly #takers = new Others();
  /** When watching began, or the target was put into other groups; and last. */
  #limits: { readonly first: Limits; readonly last: Limits } | null = null;
  readonly #systemCalls = new SystemCalls();
  readonly #quality = new QualityCount();
  readonly #windows = new Windows();

  constructor(readonly cpus: number | null) {}

  span(span: Span): void {
    switch (span.type) {
      case "slice":
        if (span.category === "sched.off") this.#off(span);
        if (span.category === "llmprof.stopped") this.#stopped.add(span);
        return;
      case "instant":
        return this.#instant(span);
      case "name": {
        this.#names.set(span.track, span.name);
        return;
      }
      case "mark":
        return this.#mark(span);
    }
  }

  result(): SchedResult {
    const threads = [...this.#threads].map(([track, thread]) => thread.result(this.#names.get(track) ?? "")).sort((a, b) =>
      b.onNs - a.onNs || a.tid - b.tid
    );
    const waits = [...this.#waits.values()].sort((a, b) => b.totalNs - a.totalNs).map(({ ended, wakers, ...wait }) => ({
      ...wait,
      p50Ns: ended.quantile(0.5) ?? 0,
      p99Ns: ended.quantile(0.99) ?? 0,
      maxNs: ended.count > 0 ? ended.max : 0,
      wakers: wakers.result(),
    }));
    const sum = (of: (thread: typeof threads[number]) => number) => threads.reduce((total, thread) => total + of(thread), 0);
    const takers = this.#takers.result();
    const limits = this.#limits && since(this.#limits.first, this.#limits.last);
    return {
      windows: this.#windows.result(),
      threads,
      waits,
      takers,
      totals: {
        onNs: sum(({ onNs }) => onNs),
        queuedNs: sum(({ queuedNs }) => queuedNs),
        waitNs: sum(({ waits }) => waits.reduce((all, { ns }) => all + ns, 0)),
        voluntary: sum(({ voluntary }) => voluntary),
        involuntary: sum(({ involuntary }) => involuntary),
        migrations: sum(({ migrations }) => migrations),
      },
      limits,
      verdict: schedVerdict(threads, waits, takers, limits, this.cpus),
      systemCalls: this.#systemCalls.result(),
      quality: this.#quality.result(),
    };
  }

  #instant(instant: Instant): void {
    const { category, track, at } = instant;
    if (category === "process.syscalls") return this.#systemCalls.instant(instant);
    if (category === "process.limits") return this.#told(instant.limits!);
    if (category === "process.exec" && !this.#threads.has(track)) this.#threads.set(track, new ThreadTimes(track, at, true));
    if (category === "thread.exit" || category === "process.exit") this.#threads.get(track)?.ends(at, this.#net(track));
  }

  /** Other groups have counts of their own, which may be lower; who is watched for one look alone has none yet. */
  #told(last: Limits): void {
    const known = this.#limits;
    const isOther = known && (last.cpus !== known.last.cpus || last.memoryLimit !== known.last.memoryLimit || last.throttled < known.last.throttled);
    this.#limits = { first: known && !isOther ? known.first : last, last };
  }

  #net({ pid }: Track): (from: Ns, to: Ns) => number {
    return (from, to) => this.#stopped.net(pid, from, to);
  }

  #mark(mark: Mark): void {
    this.#quality.mark(mark);
    this.#windows.mark(mark);
    if (mark.kind === "window" && !mark.open) { for (const [track, thread] of this.#threads) thread.ends(mark.at, this.#net(track)); }
  }

  #off(slice: Slice): void {
    const { track, start, end, open } = slice;
    const off = slice.off!;
    const net = this.#net(track);
    let thread = this.#threads.get(track);
    // Since when it ran nobody knows.
    if (!thread) this.#threads.set(track, thread = new ThreadTimes(track, start, false));
    thread.off(slice, net);
    const ns = net(start, end), queued = Math.min(off.queuedNs, ns);
    this.#wait(off, ns, queued, open === true);
    if (off.taker) this.#takers.add(off.taker, ns);
  }

  #wait(off: OffCpu, ns: number, queuedNs: number, open: boolean): void {
    const key = `${off.reason}\0${off.call ?? ""}`;
    let wait = this.#waits.get(key);
    if (!wait) {
      const { reason, call = null } = off;
      this.#waits.set(key, wait = { reason, call, ended: new Histogram(), totalNs: 0, times: 0, queuedNs: 0, wakers: new Others() });
    }
    wait.times++;
    wait.totalNs += ns;
    wait.queuedNs += queuedNs;
    if (open) return;
    wait.ended.add(ns);
    if (off.waker) wait.wakers.add(off.waker, ns);
  }
}

/** What came of limits between two looks. */
function since(first: Limits, last: Limits): Limits {
  return {
    ...last,
    throttled: last.throttled - first.throttled,
    throttledNs: Math.max(0, last.throttledNs - first.throttledNs),
    killed: Math.max(0, last.killed - first.killed),
  };
}

/** Threads of anybody, and what they had to do with the target's times. */
class Others {
  readonly #all = new Map<number, { name: string; readonly tid: number; times: number; ns: number }>();

  add({ tid, name }: { readonly tid: number; readonly name: string }, ns: number): void {
    let sums = this.#all.get(tid);
    if (!sums) this.#all.set(tid, sums = { name, tid, times: 0, ns: 0 });
    if (name !== "") sums.name = name;
    sums.times++;
    sums.ns += ns;
  }

  result() {
    return [...this.#all.values()].sort((a, b) => b.ns - a.ns || b.times - a.times).slice(0, MAX_OTHERS);
  }
}
