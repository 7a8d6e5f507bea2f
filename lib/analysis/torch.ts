import type { Mark, Slice, Span, Track } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import type { Analysis } from "./analysis.ts";
import { Histogram } from "./histogram.ts";
import { type Call, NestedCalls } from "./nested_calls.ts";
import { Passes, PassKinds } from "./passes.ts";
import { QualityCount } from "./quality.ts";
import { StoppedTimes } from "./stopped.ts";
import { SystemCalls } from "./system_calls.ts";
import type { TorchResult } from "./torch_schema.ts";
import { Windows } from "./windows.ts";

/** Which operators of PyTorch take the time: sums as spans arrive, in memory that does not grow with their number. */
export function torch(which: "all" | "learned"): Analysis<TorchResult> {
  return new TorchAnalysis(which === "learned");
}

interface Thread {
  readonly calls: NestedCalls;
  readonly passes: Passes;
}

interface ShapeSums {
  calls: number;
  totalNs: number;
  selfNs: number;
}

interface Sums {
  readonly whole: Histogram;
  selfNs: number;
}

class TorchAnalysis implements Analysis<TorchResult> {
  readonly #stopped = new StoppedTimes();
  readonly #systemCalls = new SystemCalls();
  readonly #quality = new QualityCount();
  readonly #operators = new Map<string, Sums>();
  /** By operator and shapes. */
  readonly #shapes = new Map<string, Map<string, ShapeSums>>();
  /** By outer and inner operator; no name: none. */
  readonly #nesting = new Map<string, Map<string, { calls: number; totalNs: number }>>();
  readonly #passes = new PassKinds();
  readonly #threads = new Map<Track, Thread>();
  readonly #learning = new Windows();
  readonly #windows = new Windows();
  #windowsNow: Windows;
  #isOver = false;

  /** `learned`: the first window is for learning which operators run, those behind it for timing. */
  constructor(readonly learned: boolean) {
    this.#windowsNow = learned ? this.#learning : this.#windows;
  }

  span(span: Span): void {
    if (span.type === "slice" && span.category === "torch.op") this.#operator(span);
    else if (span.type === "slice" && span.category === "llmprof.stopped") this.#stopped.add(span);
    else if (span.type === "instant" && span.category === "process.syscalls") this.#systemCalls.instant(span);
    else if (span.type === "name") this.#systemCalls.name(span);
    else if (span.type === "mark") this.#mark(span);
  }

  result(): TorchResult {
    this.#interrupt();
    const operators = [...this.#operators].map(([name, { whole, selfNs }]) => ({
      name,
      calls: whole.count,
      totalNs: whole.sum,
      selfNs,
      meanNs: whole.mean!,
      p50Ns: whole.quantile(0.5)!,
      p99Ns: whole.quantile(0.99)!,
      maxNs: whole.max,
    }));
    const nesting = [...this.#nesting].flatMap(([outer, all]) => [...all].map(([inner, sums]) => ({ outer: outer || null, inner, ...sums })));
    const threads = [...this.#threads].map(([{ pid, tid }, { calls: { calls, operatorsNs, betweenNs, longestGapNs } }]) => (
      { pid, tid: tid!, calls, operatorsNs, betweenNs, longestGapNs }
    ));
    return {
      engine: "torch",
      windows: this.#windows.result(),
      learnedNs: this.learned ? this.#learning.result().ns : null,
      processes: new Set(threads.map(({ pid }) => pid)).size,
      time: { operatorsNs: threads.reduce((sum, { operatorsNs }) => sum + operatorsNs, 0), stoppedNs: this.#stopped.union().total },
      operators: operators.sort((a, b) => b.selfNs - a.selfNs),
      shapes: this.#shapes.size === 0 ? null : this.#byShape(),
      nesting: nesting.sort((a, b) => b.totalNs - a.totalNs),
      passes: this.#passes.result(),
      threads: threads.sort((a, b) => b.operatorsNs - a.operatorsNs),
      systemCalls: this.#systemCalls.result(),
      quality: this.#quality.result(),
    };
  }

  #mark(mark: Mark): void {
    this.#quality.mark(mark);
    if (mark.kind === "ended") this.#isOver = true;
    if (mark.kind === "window" && mark.open && this.#isOver) this.#windowsNow = this.#windows;
    this.#windowsNow.mark(mark);
    // What is between two turns is nobody's gap.
    if (mark.kind === "ended") this.#interrupt();
  }

  #interrupt(): void {
    for (const { calls, passes } of this.#threads.values()) {
      calls.interrupt();
      passes.interrupt();
    }
  }

  #operator(slice: Slice): void {
    const { name, track, start, end } = slice;
    const net = this.#stopped.net(track.pid, start, end);
    let sums = this.#operators.get(name);
    if (!sums) this.#operators.set(name, sums = { whole: new Histogram(), selfNs: 0 });
    sums.whole.add(net);
    let thread = this.#threads.get(track);
    if (!thread) this.#threads.set(track, thread = this.#thread(track.pid));
    const own = net - thread.calls.ended({ name, start, end, ns: net });
    sums.selfNs += own;
    if (slice.args?.shapes !== undefined) this.#shaped(name, String(slice.args.shapes), net, own);
  }

  #shaped(name: string, shapes: string, net: number, own: number): void {
    let all = this.#shapes.get(name);
    if (!all) this.#shapes.set(name, all = new Map());
    let sums = all.get(shapes);
    if (!sums) all.set(shapes, sums = { calls: 0, totalNs: 0, selfNs: 0 });
    sums.calls++;
    sums.totalNs += net;
    sums.selfNs += own;
  }

  #byShape(): NonNullable<TorchResult["shapes"]> {
    const rows = [...this.#shapes].flatMap(([name, all]) => [...all].map(([shapes, sums]) => ({ name, shapes, ...sums })));
    return rows.sort((a, b) => b.selfNs - a.selfNs);
  }

  #thread(pid: number): Thread {
    const net = (start: Ns, end: Ns) => this.#stopped.net(pid, start, end);
    const passes = new Passes(this.#passes, net);
    const calls = new NestedCalls((outer, inner) => this.#nested(outer, inner), (call, gap) => passes.call(call, gap), undefined, net);
    return { calls, passes };
  }

  #nested(outer: Call | null, { name, ns }: Call): void {
    const key = outer?.name ?? "";
    let all = this.#nesting.get(key);
    if (!all) this.#nesting.set(key, all = new Map());
    const sums = all.get(name);
    if (!sums) all.set(name, { calls: 1, totalNs: ns });
    else {
      sums.calls++;
      sums.totalNs += ns;
    }
  }
}
