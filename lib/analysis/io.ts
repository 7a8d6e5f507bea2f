import type { Instant, Slice, Span } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import type { Analysis } from "./analysis.ts";
import { FileKeys } from "./file_keys.ts";
import { FileTotals } from "./file_totals.ts";
import { Histogram } from "./histogram.ts";
import { Intervals } from "./intervals.ts";
import type { IoResult, LatencyResult } from "./io_schema.ts";
import { ioVerdict } from "./io_verdict.ts";
import { MemoryCalls } from "./memory_calls.ts";
import { MemoryTotals } from "./memory_totals.ts";
import { QualityCount } from "./quality.ts";
import { Surroundings } from "./surroundings.ts";
import { SystemCalls } from "./system_calls.ts";
import { ThreadIo } from "./thread_io.ts";
import { ThreadNames } from "./thread_name.ts";
import { Windows } from "./windows.ts";

/** What is read from where, and how long that takes. `names`: of devices, by their numbers (`7:0`). */
export function io(names: ReadonlyMap<string, string>): Analysis<IoResult> {
  return new IoAnalysis(names);
}

interface Requests {
  readonly device: string;
  readonly what: IoResult["devices"][number]["what"];
  requests: number;
  bytes: number;
  errors: number;
  sequential: number;
  readonly queue: Histogram;
  readonly service: Histogram;
  readonly queued: Queued;
}

/** Requests come nearly as they were issued: stretches so many before the last one are settled. */
const MOST_STRETCHES = 8192;

/** When at least one of a device's requests waited for its turn. */
class Queued {
  readonly #stretches = new Intervals();
  #settledNs = 0;

  add(start: Ns, end: Ns): void {
    this.#stretches.add(start, end);
    if (this.#stretches.count > MOST_STRETCHES) this.#settledNs += this.#stretches.settle(MOST_STRETCHES / 2);
  }

  get ns(): number {
    return this.#settledNs + this.#stretches.total;
  }
}

class IoAnalysis implements Analysis<IoResult> {
  readonly #devices = new Map<string, Requests>();
  /** By device: who answers nothing yet has no kind. */
  readonly #requeued = new Map<string, number>();
  /** By file and tensor; the file by its key. */
  readonly #tensors = new Map<string, IoResult["tensors"][number]>();
  readonly #names = new FileKeys();
  readonly #files = new FileTotals(this.#names);
  readonly #threadNames = new ThreadNames();
  readonly #threads = new ThreadIo(this.#threadNames);
  readonly #memory = new MemoryTotals();
  readonly #memoryCalls = new MemoryCalls();
  readonly #untold = new Map<string, number>();
  readonly #surroundings = new Surroundings();
  readonly #systemCalls = new SystemCalls(this.#threadNames);
  readonly #quality = new QualityCount();
  readonly #windows = new Windows();
  readonly #pids = new Set<number>();

  constructor(readonly names: ReadonlyMap<string, string>) {}

  span(span: Span): void {
    switch (span.type) {
      case "slice":
        return this.#slice(span);
      case "instant":
        return this.#instant(span);
      case "counter":
        this.#pids.add(span.track.pid);
        this.#surroundings.counter(span);
        return this.#memory.counter(span);
      case "name":
        return this.#threadNames.name(span);
      case "mark":
        this.#quality.mark(span);
        return this.#windows.mark(span);
    }
  }

  result(): IoResult {
    const windows = this.#windows.result();
    const { pageFaults, locks } = this.#memory.result(this.#pids);
    const devices = [...this.#devices.values()].map(({ queue, service, queued, ...sums }) => ({
      ...sums,
      name: this.names.get(sums.device) ?? null,
      requeued: this.#requeued.get(sums.device) ?? 0,
      meanInFlight: windows.ns > 0 ? service.sum / windows.ns : 0,
      queuedNs: Math.min(queued.ns, windows.ns),
      queue: latency(queue),
      service: latency(service),
    })).sort((a, b) => b.service.totalNs - a.service.totalNs);
    const files = this.#files.result(this.#memory.cached);
    const shown = this.#names.shown();
    const surroundings = this.#surroundings.result();
    return {
      windows,
      devices,
      files,
      tensors: [...this.#tensors.values()].map((sums) => ({ ...sums, file: shown.get(sums.file)! })).sort((a, b) =>
        b.majorNs - a.majorNs || b.faults - a.faults
      ),
      threads: this.#threads.result(),
      pageFaults,
      majorFaults: files.reduce((sum, { major }) => sum + major, 0),
      verdict: ioVerdict({ files, devices, windows, limits: surroundings.limits }),
      locks,
      memoryCalls: this.#memoryCalls.result(),
      untold: [...this.#untold].map(([call, requests]) => ({ call, requests })).sort((a, b) => b.requests - a.requests),
      ...surroundings,
      systemCalls: this.#systemCalls.result(),
      quality: this.#quality.result(),
    };
  }

  #slice(slice: Slice): void {
    this.#threads.slice(slice);
    if (slice.category === "block.request") return this.#request(slice);
    if (slice.category === "memory.lock") return this.#memory.lock(slice);
    this.#files.slice(slice);
  }

  #instant(instant: Instant): void {
    this.#surroundings.instant(instant);
    if (instant.category === "process.syscalls") return this.#systemCalls.instant(instant);
    if (instant.category === "memory.calls") return this.#memoryCalls.instant(instant);
    if (instant.category === "file.untold") return this.#asked(instant);
    if (instant.category === "memory.tensors") return this.#touched(instant);
    if (instant.category === "memory.threads") return this.#threads.faults(instant);
    if (instant.category !== "block.requeue") return;
    const device = String(instant.args!.device);
    this.#requeued.set(device, (this.#requeued.get(device) ?? 0) + 1);
  }

  #asked({ args }: Instant): void {
    const { call, requests } = args as { call: string; requests: number };
    this.#untold.set(call, (this.#untold.get(call) ?? 0) + requests);
  }

  #touched({ name, args, touched }: Instant): void {
    const file = this.#names.of({ file: name, ...args });
    for (const { tensor, faults, major, majorNs } of touched!) {
      const key = `${file}\0${tensor}`;
      let sums = this.#tensors.get(key);
      if (!sums) this.#tensors.set(key, sums = { file, tensor, faults: 0, major: 0, majorNs: 0 });
      sums.faults += faults;
      sums.major += major;
      sums.majorNs += majorNs;
    }
  }

  #request({ start, end, block }: Slice): void {
    const { device, what, bytes, queuedNs, sequential, error } = block!;
    const key = `${device} ${what}`;
    let sums = this.#devices.get(key);
    if (!sums) {
      const none = { requests: 0, bytes: 0, errors: 0, sequential: 0 };
      this.#devices.set(key, sums = { device, what, ...none, queue: new Histogram(), service: new Histogram(), queued: new Queued() });
    }
    sums.requests++;
    sums.bytes += bytes;
    if (error !== 0) sums.errors++;
    if (sequential) sums.sequential++;
    sums.queue.add(queuedNs);
    sums.queued.add(start - queuedNs, start);
    sums.service.add(end - start);
  }
}

function latency(times: Histogram): LatencyResult {
  const quantile = (q: number) => times.quantile(q) ?? 0;
  return {
    totalNs: times.sum,
    meanNs: times.mean ?? 0,
    p50Ns: quantile(0.5),
    p90Ns: quantile(0.9),
    p99Ns: quantile(0.99),
    maxNs: times.count > 0 ? times.max : 0,
  };
}
