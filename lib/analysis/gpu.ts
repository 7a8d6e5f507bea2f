import type { GpuCall } from "../events/gpu.ts";
import type { Slice, Span, Track } from "../events/span.ts";
import type { Analysis } from "./analysis.ts";
import { DecodeContexts } from "./decode_contexts.ts";
import { GpuDevices } from "./gpu_devices.ts";
import { GpuErrors } from "./gpu_errors.ts";
import { type AskedOf, count } from "./gpu_contention.ts";
import { GpuFiles } from "./gpu_files.ts";
import { GpuGaps } from "./gpu_gaps.ts";
import { GpuMemory } from "./gpu_memory.ts";
import { type Asked, GpuPerToken } from "./gpu_per_token.ts";
import type { GpuResult } from "./gpu_schema.ts";
import { GpuWork } from "./gpu_work.ts";
import { Histogram } from "./histogram.ts";
import { type Call, NestedCalls } from "./nested_calls.ts";
import { QualityCount } from "./quality.ts";
import { StoppedTimes } from "./stopped.ts";
import { SystemCalls } from "./system_calls.ts";
import { Windows } from "./windows.ts";

/** What is asked of a GPU: sums as spans arrive, in memory that does not grow with their number. */
export function gpu(): Analysis<GpuResult> {
  return new GpuAnalysis();
}

interface Function {
  readonly family: string;
  readonly name: string;
  readonly kind: string;
  readonly times: Histogram;
  failed: number;
  bytes: number;
}

/** A call into a GPU's library, by what it did. */
interface Made extends Call {
  readonly gpu: GpuCall;
  /** Where it is counted as one of those for which the target waits. */
  readonly asked?: AskedOf;
  /** It let memory go of which nobody saw that it was asked for. */
  isUnknownFree: boolean;
}

/** So many calls may one call make itself. */
const MOST_INSIDE = 2048;

class GpuAnalysis implements Analysis<GpuResult> {
  readonly #stopped = new StoppedTimes();
  readonly #functions = new Map<string, Function>();
  readonly #work = new GpuWork();
  /** By function. */
  readonly #unfinished = new Map<string, GpuResult["unfinished"][number]>();
  readonly #memory = new GpuMemory();
  readonly #windows = new Windows();
  readonly #files = new GpuFiles(this.#windows);
  readonly #devices = new GpuDevices();
  /** By kernel. */
  readonly #executed = new Map<string, Histogram>();
  readonly #gaps = new GpuGaps(this.#stopped);
  readonly #errors = new GpuErrors();
  /** By thread. */
  readonly #nested = new Map<Track, NestedCalls<Made>>();
  readonly #systemCalls = new SystemCalls();
  readonly #quality = new QualityCount();
  #outermostNs = 0;
  readonly #contexts = new DecodeContexts(this.#stopped);
  readonly #perToken = new GpuPerToken();
  #unknown = 0;

  span(span: Span): void {
    if (span.type === "mark") {
      this.#quality.mark(span);
      this.#windows.mark(span);
      this.#files.mark(span);
      this.#memory.mark(span);
      this.#gaps.mark(span);
      if (span.kind === "ended") this.#interrupt();
      return;
    }
    if (span.type === "instant") {
      if (span.held) this.#memory.stillHeld(span.track.pid, span.held);
      if (span.category === "process.syscalls") this.#systemCalls.instant(span);
      if (span.category === "gpu.throttle") this.#devices.throttled(span);
      if (span.category === "gpu.abandoned") this.#gaps.abandoned();
      if (span.category === "gpu.stack") this.#memory.stack(span.stack!);
      if (span.file) this.#files.used(span.file, span.at, span.at);
      this.#files.life(span);
      this.#memory.life(span);
      return;
    }
    if (span.type === "name") return this.#systemCalls.name(span);
    if (span.type === "counter") return this.#devices.counter(span);
    if (span.type !== "slice") return;
    const { category } = span;
    if (span.gpu) this.#call(span, span.gpu);
    else if (span.file) this.#files.used(span.file, span.start, span.end);
    else if (category === "gpu.kernel") this.#ran(span);
    else if (category === "gpu.unfinished") this.#neverReturned(span);
    else if (category === "gpu.gap") this.#gaps.gap(span);
    else if (category === "llmprof.stopped") this.#stopped.add(span);
    else if (category === "llama.decode") this.#decode(span);
    else if (category === "llama.context") this.#contexts.made(span);
    else if (category.startsWith("gpu.")) this.#unknown++;
  }

  result(): GpuResult {
    const functions = [...this.#functions.values()].map(({ family, name, kind, times, failed, bytes }) => ({
      family,
      name,
      kind,
      calls: times.count,
      failed,
      totalNs: times.sum,
      meanNs: times.mean!,
      p99Ns: times.quantile(0.99)!,
      maxNs: times.max,
      bytes,
    })).sort((a, b) => b.totalNs - a.totalNs || b.calls - a.calls);
    const windows = this.#windows.result();
    return {
      windows,
      functions,
      totals: {
        calls: functions.reduce((all, { calls }) => all + calls, 0),
        failed: functions.reduce((all, { failed }) => all + failed, 0),
        ...this.#work.totals,
        totalNs: this.#outermostNs,
      },
      ...this.#work.result(),
      executed: this.#executed.size === 0 ? null : [...this.#executed].map(([name, times]) => (
        { name, runs: times.count, totalNs: times.sum, meanNs: times.mean!, maxNs: times.max }
      )).sort((a, b) => b.totalNs - a.totalNs),
      ...this.#memory.result(),
      gaps: this.#gaps.result(),
      unfinished: [...this.#unfinished.values()].sort((a, b) => b.longestNs - a.longestNs),
      ...this.#errors.result(this.#windows.begin ?? 0),
      perToken: this.#perToken.result(this.#contexts.generated),
      devices: this.#devices.result(),
      ...this.#files.result(windows.ns),
      systemCalls: this.#systemCalls.result(),
      quality: { ...this.#quality.result(), unknownCalls: this.#unknown },
    };
  }

  #call(slice: Slice, call: GpuCall): void {
    const { name, track, start, end } = slice, { family, kind, failure, bytes = 0 } = call;
    const ns = this.#net(slice);
    const key = `${family} ${name}`;
    let sums = this.#functions.get(key);
    if (!sums) this.#functions.set(key, sums = { family, name, kind, times: new Histogram(), failed: 0, bytes: 0 });
    sums.times.add(ns);
    if (failure === null) sums.bytes += bytes;
    else {
      sums.failed++;
      this.#errors.failed(slice, call);
    }
    const isAsked = kind === "sync" || kind === "copy";
    const asked = isAsked && this.#files.asked(`${name}, 2^${Math.ceil(Math.log2(bytes + 1))} bytes`, start, ns);
    this.#memory.call(track.pid, call);
    this.#gaps.called(track.pid, start, end);
    const made = { name, start, end, ns, gpu: call, ...asked && { asked }, isUnknownFree: isUnknownFree(slice, call) };
    this.#work.add(made, 1);
    this.#outermostNs += ns - this.#nestedOf(track).ended(made);
    if (made.isUnknownFree) this.#memory.unknownFree(track.pid);
  }

  #decode(slice: Slice): void {
    const generated = this.#contexts.decode(slice);
    if (generated !== null) this.#perToken.decoded(generated, this.#asked(), this.#contexts.generated);
  }

  #interrupt(): void {
    this.#contexts.interrupt();
    this.#perToken.interrupt(this.#contexts.generated);
  }

  #asked(): Asked {
    const copies = this.#work.of("copy"), { launches, graphLaunches, submits, graphKernels, syncNs } = this.#work.totals;
    return {
      callsNs: this.#outermostNs,
      launches: launches + graphLaunches + submits,
      kernels: launches + graphKernels,
      copies: copies.calls,
      copiedBytes: copies.bytes,
      allocations: this.#memory.allocations,
      syncNs,
    };
  }

  #neverReturned(slice: Slice): void {
    const { name, track: { pid, tid = pid }, args } = slice, ns = this.#net(slice);
    const before = this.#unfinished.get(name);
    const longest = before === undefined || ns > before.longestNs ? { longestNs: ns, pid, tid } : before;
    this.#unfinished.set(name, { ...longest, family: String(args!.library), name, calls: (before?.calls ?? 0) + 1 });
  }

  #ran({ name, start, end }: Slice): void {
    let times = this.#executed.get(name);
    if (!times) this.#executed.set(name, times = new Histogram());
    times.add(end - start);
  }

  #nestedOf(track: Track): NestedCalls<Made> {
    let nested = this.#nested.get(track);
    if (!nested) {
      const takeBack = (outer: Made | null, inner: Made) => {
        if (outer?.gpu.kind === inner.gpu.kind) {
          this.#work.add(inner, -1);
          // What the runtime was asked to let go the driver has.
          outer.isUnknownFree = false;
        }
        // Its time is part of that one's.
        if (outer?.asked && inner.asked) count(inner.asked, inner.ns, -1);
      };
      this.#nested.set(track, nested = new NestedCalls(takeBack, undefined, MOST_INSIDE));
    }
    return nested;
  }

  #net({ track: { pid }, start, end }: Slice): number {
    return this.#stopped.net(pid, start, end);
  }
}

/** Of nothing there is nothing to let go, what a handle is of (cuMemRelease) may still be mapped, and what is recorded lets nothing go. */
function isUnknownFree({ name, args }: Slice, { kind, failure, memory, isRepeat, isCaptured }: GpuCall): boolean {
  if (kind !== "free" || failure !== null || memory !== undefined || isRepeat || isCaptured) return false;
  return args?.address !== "0x0" && !name.endsWith("Release");
}
