import type { Instant, Mark, OffCpu, Slice, Span, Taker, Track } from "../events/span.ts";
import type { Affinity } from "../events/surroundings.ts";
import type { Ns } from "../events/time.ts";
import type { Analysis, Beside } from "./analysis.ts";
import { Histogram } from "./histogram.ts";
import { MOST_OTHERS, Others } from "./others.ts";
import { QualityCount } from "./quality.ts";
import type { SchedResult } from "./sched_schema.ts";
import { type MachineUse, schedVerdict } from "./sched_verdict.ts";
import { StoppedTimes } from "./stopped.ts";
import { StackSums } from "./stack_sums.ts";
import { type Node, numaOf } from "./numa.ts";
import { Surroundings } from "./surroundings.ts";
import { SystemCalls } from "./system_calls.ts";
import { ThreadTimes } from "./thread_times.ts";
import type { Why } from "./thread_waits.ts";
import { Windows } from "./windows.ts";

/**
 * Where threads are when they are on no processor. `cpus`: how many the machine has, as far as that is known; `nodes`: by which of its memories they are,
 * where it has several; `disks`: their names by their numbers (`7:0`); `online`: numbers of the processors, where they are known.
 */
export function sched(
  cpus: number | null,
  nodes: readonly Node[] = [],
  disks: ReadonlyMap<string, string> = new Map(),
  online: readonly number[] | null = null,
): Analysis<SchedResult> {
  return new SchedAnalysis(nodes, { cpus, online, disks });
}

/** Of all threads. */
interface Wait extends Why {
  readonly ended: Histogram;
  maxNs: number;
  totalNs: number;
  times: number;
  queuedNs: number;
  readonly wakers: Others;
}

class SchedAnalysis implements Analysis<SchedResult> {
  readonly #stopped = new StoppedTimes();
  readonly #threads = new Map<Track, ThreadTimes>();
  readonly #names = new Map<Track, string>();
  /** By process. */
  readonly #affinities = new Map<number, Affinity>();
  readonly #waits = new Map<string, Wait>();
  readonly #takers = new Others(MOST_OTHERS);
  /** Of these, as far as it is known by now. */
  readonly #tracers = new Set<number>();
  readonly #queued = new Histogram();
  readonly #surroundings = new Surroundings();
  readonly #systemCalls = new SystemCalls();
  readonly #stacks = new StackSums();
  readonly #quality = new QualityCount();
  readonly #windows = new Windows();
  /** Streams whose window is open. */
  readonly #open = new Set<string>();
  /** By processor. */
  readonly #nodes: ReadonlyMap<number, number>;
  #nodeMoves = 0;

  constructor(readonly nodes: readonly Node[], readonly machine: Omit<MachineUse, "onByCpu">) {
    this.#nodes = new Map(nodes.flatMap(({ node, cpus }) => cpus.map((cpu) => [cpu, node])));
  }

  span(span: Span): void {
    switch (span.type) {
      case "slice":
        if (span.category === "sched.off") this.#off(span);
        if (span.category === "sched.offs") this.#offs(span);
        if (span.category === "llmprof.stopped") this.#stopped.add(span);
        return;
      case "instant":
        this.#surroundings.instant(span);
        return this.#instant(span);
      case "counter":
        return this.#surroundings.counter(span);
      case "name": {
        this.#names.set(span.track, span.name);
        return this.#systemCalls.name(span);
      }
      case "mark":
        return this.#mark(span);
    }
  }

  result({ io }: Beside = {}): SchedResult {
    const watched = [...this.#threads].map(([track, times]) => ({
      thread: times.result(this.#names.get(track) ?? "", this.#affinityOf(track)),
      waits: times.waits,
      lives: times.lives,
    })).sort(({ thread: a }, { thread: b }) => b.onNs - a.onNs || a.tid - b.tid);
    const threads = watched.map(({ thread }) => thread);
    const waits = [...this.#waits.values()].sort((a, b) => b.totalNs - a.totalNs).map(({ ended, wakers, ...wait }) => ({
      ...wait,
      p50Ns: ended.quantile(0.5) ?? 0,
      p99Ns: ended.quantile(0.99) ?? 0,
      wakers: wakers.result(),
    }));
    const sum = (of: (thread: typeof threads[number]) => number) => threads.reduce((total, thread) => total + of(thread), 0);
    const takers = this.#takers.result().map((taker) => ({ ...taker, traces: this.#tracers.has(taker.tid) }));
    const surroundings = this.#surroundings.result(), onByCpu = this.#onByCpu();
    return {
      windows: this.#windows.result(),
      threads,
      waits,
      takers,
      totals: {
        queue: this.#queue,
        onNs: sum(({ onNs }) => onNs),
        queuedNs: sum(({ queuedNs }) => queuedNs),
        waitNs: sum(({ waits }) => waits.reduce((all, { ns }) => all + ns, 0)),
        voluntary: sum(({ voluntary }) => voluntary),
        involuntary: sum(({ involuntary }) => involuntary),
        yielded: sum(({ yielded }) => yielded),
        migrations: sum(({ migrations }) => migrations),
      },
      ...surroundings,
      numa: numaOf(this.nodes, onByCpu, this.#surroundings.byNode, this.#nodeMoves),
      verdict: schedVerdict(watched, takers, surroundings, { ...this.machine, onByCpu }, io?.verdict),
      stacks: this.#stacks.result(),
      systemCalls: this.#systemCalls.result(),
      quality: this.#quality.result(),
    };
  }

  #instant(instant: Instant): void {
    const { category, track, at } = instant;
    if (category === "process.syscalls") return this.#systemCalls.instant(instant);
    if (category === "sched.stack") return this.#stacks.told(instant.stack!);
    if (category === "sched.affinity") return void this.#affinities.set(track.pid, instant.affinity!);
    const thread = this.#threads.get(track);
    if (category === "process.exec") {
      if (!thread) this.#threads.set(track, new ThreadTimes(track, at, true));
      else if (thread.begins(at)) this.#othersExit(track, at);
    }
    if (thread && (category === "thread.exit" || category === "process.exit")) this.#exits(thread, at);
  }

  #exits(thread: ThreadTimes, at: Ns): void {
    thread.exits(at, this.#net(thread.track), this.#affinityOf(thread.track));
  }

  /** Of the thread that has taken the number of `first` no exit is told: it is the one that is left. */
  #othersExit(first: Track, at: Ns): void {
    for (const thread of this.#threads.values()) if (thread.track.pid === first.pid && thread.track !== first) this.#exits(thread, at);
  }

  /** A thread inherits it from who began it. */
  #affinityOf({ pid, tid }: Track): string | null {
    const found = this.#affinities.get(pid);
    return found?.threads.find((thread) => thread.tid === tid)?.affinity ?? found?.affinity ?? null;
  }

  get #queue() {
    const quantile = (q: number) => this.#queued.quantile(q) ?? 0;
    return { p50Ns: quantile(0.5), p90Ns: quantile(0.9), p99Ns: quantile(0.99), maxNs: quantile(1) };
  }

  #onByCpu(): Map<number, number> {
    const all = new Map<number, number>();
    for (const { onByCpu } of this.#threads.values()) for (const [cpu, ns] of onByCpu) all.set(cpu, (all.get(cpu) ?? 0) + ns);
    return all;
  }

  #net({ pid }: Track): (from: Ns, to: Ns) => number {
    return (from, to) => this.#stopped.net(pid, from, to);
  }

  #mark(mark: Mark): void {
    this.#quality.mark(mark);
    this.#windows.mark(mark);
    this.#surroundings.mark(mark);
    if (mark.kind === "window") this.#window(mark);
  }

  /** Who is off when counting ends is told when the stream that sees it shuts its window, which others may have done before. */
  #window({ stream, open, at }: Mark): void {
    if (open) return void this.#open.add(stream);
    this.#open.delete(stream);
    if (this.#open.size === 0) { for (const [track, thread] of this.#threads) thread.ends(at, this.#net(track)); }
  }

  #off(slice: Slice): void {
    const { track, start, end, open } = slice;
    const off = slice.off!;
    const net = this.#net(track);
    let thread = this.#threads.get(track);
    // Since when it ran nobody knows.
    if (!thread) this.#threads.set(track, thread = new ThreadTimes(track, start, false));
    const wait = this.#waitOf(off);
    thread.off(slice, net, wait);
    const ns = net(start, end), queued = Math.min(off.queuedNs, ns);
    this.#add(wait, off, ns, queued, open === true);
    this.#stacks.off(off, ns);
    if (off.taker) this.#took(off.taker, ns);
  }

  #offs(slice: Slice): void {
    const off = slice.off!, { thread, times, ns } = off.run!;
    const wait = this.#waitOf(off);
    this.#threads.get(thread)?.offs(slice, this.#net(thread), wait);
    this.#add(wait, off, ns, off.queuedNs, false, times);
    if (off.taker) this.#took(off.taker, ns, times);
  }

  #took(taker: Taker, ns: number, times = 1): void {
    this.#takers.add(taker, ns, times);
    if (taker.traces) this.#tracers.add(taker.tid);
    else this.#tracers.delete(taker.tid);
  }

  #waitOf(off: OffCpu): Wait {
    const { reason, call = null } = off;
    const key = `${reason}\0${call ?? ""}`;
    let wait = this.#waits.get(key);
    if (!wait) {
      const wakers = new Others(MOST_OTHERS);
      this.#waits.set(key, wait = { reason, call, ended: new Histogram(), maxNs: 0, totalNs: 0, times: 0, queuedNs: 0, wakers });
    }
    return wait;
  }

  #add(wait: Wait, off: OffCpu, ns: number, queuedNs: number, open: boolean, times = 1): void {
    wait.times += times;
    wait.totalNs += ns;
    wait.queuedNs += queuedNs;
    // Of several, each counts as long as they were on average.
    wait.maxNs = Math.max(wait.maxNs, ns / times);
    if (off.migrated && this.#nodes.get(off.from) !== this.#nodes.get(off.cpu)) this.#nodeMoves += times;
    if (open) return;
    wait.ended.add(ns / times, times);
    this.#queued.add(queuedNs / times, times);
    if (off.waker) wait.wakers.add(off.waker, ns, times);
  }
}
