import type { BlockRequest, Instant, Slice, Span } from "../events/span.ts";
import type { Analysis } from "./analysis.ts";
import { FileKeys } from "./file_keys.ts";
import { FileTotals } from "./file_totals.ts";
import type { IoResult, RequestsResult } from "./io_schema.ts";
import { ioVerdict } from "./io_verdict.ts";
import { MemoryCalls } from "./memory_calls.ts";
import { MemoryTotals } from "./memory_totals.ts";
import { QualityCount } from "./quality.ts";
import { Requests } from "./requests.ts";
import { Surroundings } from "./surroundings.ts";
import { SystemCalls } from "./system_calls.ts";
import { ThreadIo } from "./thread_io.ts";
import { ThreadNames } from "./thread_name.ts";
import { UnionTime } from "./union_time.ts";
import { Windows } from "./windows.ts";

/** What is read from where, and how long that takes. `names`: of devices, by their numbers (`7:0`). */
export function io(names: ReadonlyMap<string, string>): Analysis<IoResult> {
  return new IoAnalysis(names);
}

/** Each takes some kilobytes: on a machine where processes come and go, later ones are in the sums of devices alone. */
const MOST_OF_PROCESSES = 1000;

class IoAnalysis implements Analysis<IoResult> {
  /** By process, device and kind: no text is put together for each of a hundred thousand requests a second. */
  readonly #requests = new Map<number, Map<string, Partial<Record<BlockRequest["what"], Counted>>>>();
  /** By device and kind. */
  readonly #devices = new Map<string, Device>();
  /** By process, device and kind. */
  readonly #processes = new Map<string, { readonly pid: number; readonly requests: Requests }>();
  /** By device: who answers nothing yet has no kind. */
  readonly #requeued = new Map<string, number>();
  /** By device and kind: what was merged into requests and split off them. */
  readonly #pieces = new Map<string, { merged: number; split: number }>();
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
  /** Of devices of one name the number of the first one: ways to an NVMe disk have numbers of their own, and its name. */
  readonly #firsts: ReadonlyMap<string, string>;

  constructor(readonly names: ReadonlyMap<string, string>) {
    this.#firsts = new Map([...names].map(([number, name]) => [name, number] as const).toReversed());
  }

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
        this.#surroundings.mark(span);
        return this.#windows.mark(span);
    }
  }

  result(): IoResult {
    const windows = this.#windows.result();
    const { pageFaults, locks } = this.#memory.result(this.#pids);
    const named = (row: RequestsResult) => ({ ...row, name: this.names.get(row.device) ?? null });
    const rows = [...this.#devices.values()].map(({ queued, parts: [first, ...more] }) => {
      const all = new Requests(first.device, first.what, queued);
      for (const part of [first, ...more]) all.merge(part);
      const row = named(all.result(windows.ns));
      const pieces = this.#pieces.get(`${row.device} ${row.what}`) ?? { merged: 0, split: 0 };
      return { ...row, ...pieces };
    }).sort((a, b) => b.service.totalNs - a.service.totalNs);
    // Of what kind those were nobody tells.
    const requeued = new Map(this.#requeued);
    const devices = rows.map((row) => {
      const times = requeued.get(row.device) ?? 0;
      requeued.delete(row.device);
      return { ...row, requeued: times };
    });
    const processes = [...this.#processes.values()].map(({ pid, requests }) => ({
      pid,
      process: this.#threadNames.of(pid, pid),
      ...named(requests.result(windows.ns)),
    })).sort((a, b) => b.service.totalNs - a.service.totalNs);
    const files = this.#files.result(this.#memory.cached);
    const shown = this.#names.shown();
    const result: Omit<IoResult, "verdict"> = {
      windows,
      devices,
      processes,
      files,
      tensors: [...this.#tensors.values()].map((sums) => ({ ...sums, file: shown.get(sums.file)! })).sort((a, b) =>
        b.majorNs - a.majorNs || b.faults - a.faults
      ),
      threads: this.#threads.result(),
      pageFaults,
      majorFaults: files.reduce((sum, { major }) => sum + major, 0),
      locks,
      memoryCalls: this.#memoryCalls.result(),
      untold: [...this.#untold].map(([call, requests]) => ({ call, requests })).sort((a, b) => b.requests - a.requests),
      ...this.#surroundings.result(),
      systemCalls: this.#systemCalls.result(),
      quality: this.#quality.result(),
    };
    return { ...result, verdict: ioVerdict(result, (device) => this.names.get(device) ?? device) };
  }

  #slice(slice: Slice): void {
    this.#threads.slice(slice);
    if (slice.block) return this.#request(slice, slice.block);
    if (slice.category === "memory.lock") this.#memory.lock(slice);
    this.#files.slice(slice);
  }

  #instant(instant: Instant): void {
    this.#surroundings.instant(instant);
    if (instant.category === "process.syscalls") return this.#systemCalls.instant(instant);
    if (instant.category === "memory.calls") return this.#memoryCalls.instant(instant);
    if (instant.category === "file.untold") return this.#asked(instant);
    if (instant.category === "memory.tensors") return this.#touched(instant);
    if (instant.category === "memory.threads") return this.#threads.faults(instant);
    if (instant.category === "block.pieces") return this.#merged(instant);
    if (instant.category !== "block.requeue") return;
    const device = this.#disk(String(instant.args!.device));
    this.#requeued.set(device, (this.#requeued.get(device) ?? 0) + 1);
  }

  #asked({ args }: Instant): void {
    const { call, requests } = args as { call: string; requests: number };
    this.#untold.set(call, (this.#untold.get(call) ?? 0) + requests);
  }

  /** Another turn counts afresh. */
  #merged({ args }: Instant): void {
    const { device, what, merged, split } = args as { device: string; what: string; merged: number; split: number };
    const key = `${this.#disk(device)} ${what}`, before = this.#pieces.get(key) ?? { merged: 0, split: 0 };
    this.#pieces.set(key, { merged: before.merged + merged, split: before.split + split });
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

  #request({ track: { pid }, start, end, open }: Slice, block: BlockRequest): void {
    let disks = this.#requests.get(pid);
    if (!disks) this.#requests.set(pid, disks = new Map());
    let kinds = disks.get(block.device);
    if (!kinds) disks.set(block.device, kinds = {});
    const { requests, queued } = kinds[block.what] ??= this.#counted(pid, block);
    if (open) return requests.wait(end - start);
    requests.add(start, end, block);
    queued.add(start - block.queuedNs, start);
  }

  #counted(pid: number, { device: way, what }: BlockRequest): Counted {
    const device = this.#disk(way);
    const key = `${device} ${what}`;
    let disk = this.#devices.get(key);
    if (!disk) this.#devices.set(key, disk = { queued: new UnionTime(), parts: [new Requests(device, what)] });
    let own = this.#processes.get(`${pid} ${key}`);
    if (!own && this.#processes.size < MOST_OF_PROCESSES) {
      this.#processes.set(`${pid} ${key}`, own = { pid, requests: new Requests(device, what) });
      disk.parts.push(own.requests);
    }
    return { requests: own?.requests ?? disk.parts[0], queued: disk.queued };
  }

  #disk(device: string): string {
    return this.#firsts.get(this.names.get(device) ?? "") ?? device;
  }
}

/** Where a request is counted: with those of its process, and when it waited, with those of its device. */
interface Counted {
  readonly requests: Requests;
  readonly queued: UnionTime;
}

/** Requests of one kind to one disk: those of no process that is told of, and then by process. */
interface Device {
  readonly queued: UnionTime;
  readonly parts: [Requests, ...Requests[]];
}
