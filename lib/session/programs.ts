import type { LlmprofError } from "../events/errors.ts";
import type { Fact } from "../events/fact.ts";
import type { Ns } from "../events/time.ts";
import type { Offsets } from "../programs/offsets.ts";
import { atLeast, hasRingBuffer, printsHexadecimal, readsSums, standsAtRawTracepoints } from "../machine/bpftrace.ts";
import { bufferOf } from "../machine/buffer.ts";
import type { Capabilities } from "../machine/capabilities.ts";
import type { Filter } from "../programs/filter.ts";
import { isKernelAtLeast } from "../machine/kernel_release.ts";
import type { Site } from "../programs/library_sites.ts";
import type { Probe } from "../programs/probe.ts";
import { type Dialect, type Program, render } from "../programs/render.ts";
import type { Pseudonyms } from "../timeline/pseudonyms.ts";
import type { Recorder } from "../timeline/recording.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { Attached } from "./attached.ts";
import { HostClock } from "./clock.ts";
import { siteKey, type SiteMap } from "./program_part.ts";
import type { Means } from "./means.ts";
import { costInKernel, priced } from "./prediction.ts";
import { type ProcessKind, Spares } from "./spares.ts";
import { keepRunning } from "./starvation.ts";
import type { Tap } from "./tap.ts";
import { cpuSeconds, skippedHits } from "./own_cost.ts";

export interface ProgramOptions {
  readonly stream: string;
  readonly probes: readonly Probe[];
  readonly filter: Filter;
  readonly sites?: SiteMap;
  readonly offsets?: Offsets;
  /** Its records are acted on: they are not gathered into blocks, and its reader never stands still. */
  readonly prompt?: boolean;
}

/** Far longer than a reader is made to wait, and shorter than maps are in use before others take their turn. */
const LATE_NS = 2.5e9;

function sumsLate(stream: string, late: Ns): string {
  const came = `${stream}: what bpftrace had to read came up to ${(late / 1e9).toFixed(1)} s late (it got no processor, or was stopped)`;
  return `${came}: sums may be told of another interval, or be lost`;
}

const MAP_FULL = "a map in the kernel was full: sums, and whatever else is kept there for each process, thread or tensor, lack what came then";

function wasAsleep(ns: Ns): string {
  return `the machine was suspended for ${(ns / 1e9).toFixed(1)} s: what went on meanwhile (a token, a wait) seems to have lasted longer by as much`;
}

export interface EndedProgram {
  readonly tap: Tap;
  readonly program: Program;
  /** Whether it came to say everything. */
  readonly read: boolean;
}

/** How programs have to be written for this machine. */
export function dialectOf(machine: Capabilities): Dialect {
  return {
    hasTracepoint: (name) => (name.includes(".") ? machine.tracepointFields : machine.tracepoints).has(name),
    hasCounter: (name) => machine.counters.has(name),
    perCpuBuffers: hasRingBuffer(machine.bpftrace!) ? 0 : machine.cpus,
    // 0.21 can do so in one probe of a program, and in none that has variables of its own.
    walksMaps: atLeast(machine.bpftrace!.version, 0, 22) && isKernelAtLeast(machine.kernel, 5, 13),
    readsSums: readsSums(machine.bpftrace!, machine.kernel),
    rawTracepoints: standsAtRawTracepoints(machine.bpftrace!) && isKernelAtLeast(machine.kernel, 5, 17),
    printsHexadecimal: printsHexadecimal(machine.bpftrace!),
    pageBytes: machine.pageBytes,
    arch: machine.arch,
  };
}

/** The bpftraces of a run: started, connected to the timeline as soon as there is one, drained and stopped together. */
export class Programs {
  #attached: Attached[] = [];
  readonly #ended: Promise<unknown>[] = [];
  /** Streams by name, and how many there were of each: a recording has a file for each. */
  readonly #named = new Map<string, number>();
  /** Facts from before there was a stream to carry them. */
  readonly facts: Fact[] = [];
  readonly dialect: Dialect;
  clock: HostClock | undefined;
  #timeline: Timeline | undefined;
  #recording: Recorder | null = null;
  /** What the bpftraces that have ended cost, in seconds of CPU time. */
  #cpu = 0;
  #pseudonyms: Pseudonyms | undefined;
  /** All of a life are attached first, and open their windows together. */
  #gathering = true;
  /** Nothing starts any more. */
  #over = false;
  readonly #spares: Spares;

  readonly #due: () => Ns;

  /** `tell`: at once, where there is a stream. `spares`: some that were started before. `due`: when something may have come that somebody waits for. */
  constructor(
    readonly means: Means,
    readonly bufferPages: number,
    readonly fail: (error: LlmprofError) => void,
    readonly tell: (fact: Fact) => void,
    { spares, due = () => Infinity }: { readonly spares?: Spares; readonly due?: () => Ns } = {},
  ) {
    this.dialect = dialectOf(means.machine);
    this.#spares = spares ?? new Spares(means, means.machine.bpftrace!, bufferPages, means.machine);
    this.#due = due;
  }

  /** Processes of the bpftraces that are attached. */
  get pids(): readonly number[] {
    return this.#attached.map(({ running }) => running.pid);
  }

  get sites(): number {
    return this.#attached.reduce((n, { program }) => n + program.sites.length, 0);
  }

  /** Starts bpftraces for programs that will be known only when the target stands still and waits for them. */
  prepare(kinds: readonly ProcessKind[]): void {
    if (!this.#over) this.#spares.expect(kinds);
  }

  /** What is started from now on opens its window when {@link openWindows} says so. */
  gather(): void {
    this.#gathering = true;
  }

  /** The run is over, perhaps while something was still looked at to be attached: that comes to nothing. */
  close(): void {
    this.#over = true;
  }

  start(options: ProgramOptions): Attached {
    if (this.#over) throw new Error("The run is over.");
    const { probes, filter, sites, offsets, prompt = false } = options;
    const stream = this.#name(options.stream);
    const uprobes = new Map<string, Site>();
    const program = render({ stream, probes, filter, offsets, window: "signalled" }, this.dialect, (param) => {
      const found = sites?.get(siteKey(param)) ?? [];
      for (const site of found) uprobes.set(site.attach, site);
      return found.map((site) => site.attach);
    });
    this.means.symbols.add([...uprobes.values()].flatMap(({ places }) => places));
    const child = this.#spares.take({ unsafe: program.unsafe, prompt });
    const attached = new Attached(program, prompt, child, this.means.monotonic);
    this.#attached.push(attached);
    this.#ended.push(attached.running.ended);
    const telling = new Set(Object.values(program.schema.records).filter(({ fields }) => fields[0]?.unit === "code").map(({ name }) => name));
    const placed = program.sites.map(({ attach, isPrinted, ...told }) => {
      const { label, cost, functions = [] } = uprobes.get(attach) ?? { label: attach, cost: costInKernel(attach) };
      const byCost = Map.groupBy(told.records.some((record) => telling.has(record)) ? functions : [], ({ cost }) => priced(cost, isPrinted));
      const known = byCost.size > 0 && { functions: Object.fromEntries([...byCost].map(([cost, all]) => [cost, all.map(({ name }) => name)])) };
      return { ...told, site: label, cost: priced(cost, isPrinted), ...known };
    });
    this.facts.push({ fact: "program", stream, sites: placed });
    if (this.#timeline) this.#connect(attached, this.clock!.now());
    return attached;
  }

  /** Waits until every probe is attached; from then on its end is the run's failure. Throws when it cannot be attached: then nothing of it is left. */
  async ready(attached: Attached): Promise<void> {
    const died = (error: LlmprofError) => void (this.#attached.includes(attached) && this.fail(error));
    const reading = await attached.ready(this.means, died).catch((error) => {
      this.#attached = this.#attached.filter((other) => other !== attached);
      throw error;
    });
    this.clock ??= new HostClock(reading, this.means.monotonic, this.means.origin());
  }

  /** One that is ready opens its window when the others' are open. */
  join(attached: Attached): void {
    if (!this.#gathering && this.#attached.includes(attached)) this.#count(attached);
  }

  /** The outputs are open: what was kept flows. */
  connect(timeline: Timeline, recording: Recorder | null, pseudonyms?: Pseudonyms): void {
    this.#pseudonyms = pseudonyms;
    this.#timeline = timeline;
    this.#recording = recording;
    for (const attached of this.#attached) this.#connect(attached);
  }

  /** From now on everything counts, and what becomes ready later does at once. */
  openWindows(): void {
    this.#gathering = false;
    // One behind the other, with nothing in between.
    for (const attached of this.#attached) attached.openWindow();
    for (const attached of this.#attached) this.#count(attached);
  }

  /**
   * Stops counting, waits for what was counted, then for `done`, and ends every bpftrace that runs: a gate that is being detached may no longer hear
   * whom it is to let go. Leaves facts on what tracing lost and cost; returns the taps, which are still open so that those facts come before the end of
   * their streams.
   */
  async end(done?: () => Promise<void>): Promise<readonly EndedProgram[]> {
    const ending = this.#attached;
    this.#attached = [];
    this.#spares.end();
    const { files, sleep } = this.means;
    for (const attached of ending) attached.closeWindow();
    const read = await Promise.all(ending.map((attached) => attached.drain(sleep)));
    await done?.();
    const own = cpuSeconds(files, this.means.self);
    const costs = ending.map(async ({ running, skippedBefore }) => {
      const [before, skipped, cpu] = await Promise.all([skippedBefore, skippedHits(files, running.pid), cpuSeconds(files, running.pid)]);
      running.stop();
      return [before === undefined ? 0 : Math.max(0, skipped - before), cpu] as const;
    });
    for (const [i, [count, cpu]] of (await Promise.all(costs)).entries()) {
      const { stream } = ending[i]!;
      const text = `${stream}: hits that the kernel skipped could not be counted`;
      this.facts.push(Number.isNaN(count) ? { fact: "note", text } : { fact: "skipped", stream, count });
      const { late, program } = ending[i]!;
      if (late > LATE_NS && program.readsSums) this.facts.push({ fact: "note", text: sumsLate(stream, late) });
      this.#cpu += cpu;
    }
    const llmprof = await own;
    if (!Number.isNaN(this.#cpu + llmprof)) this.facts.push({ fact: "cpu", bpftrace: this.#cpu, llmprof });
    return ending.map(({ tap, program }, i) => ({ tap, program, read: read[i]! }));
  }

  /** Detaching takes its time. */
  async ended(): Promise<void> {
    await Promise.all(this.#ended);
  }

  #name(stream: string): string {
    const n = (this.#named.get(stream) ?? 0) + 1;
    this.#named.set(stream, n);
    return n === 1 ? stream : `${stream}-${n}`;
  }

  #connect(attached: Attached, from?: number): void {
    attached.onLost = (count) => this.tell({ fact: "lost", stream: attached.stream, count });
    void attached.running.full.then(() => this.tell({ fact: "note", text: `${attached.stream}: ${MAP_FULL}` }));
    attached.onSlept = (ns) => this.tell({ fact: "note", text: wasAsleep(ns) });
    const discarded = attached.connect(
      this.#timeline!,
      this.#recording?.stream(attached.program.schema) ?? null,
      this.clock!,
      from,
      this.#pseudonyms,
    );
    if (discarded > 0) this.facts.push({ fact: "discarded", stream: attached.stream, count: discarded });
  }

  #count(attached: Attached): void {
    attached.openWindow();
    attached.skippedBefore ??= skippedHits(this.means.files, attached.running.pid);
    const { machine } = this.means;
    if (!attached.prompt && this.dialect.perCpuBuffers === 0) {
      attached.startRhythm(this.means, this.clock!, bufferOf(machine.bpftrace!, this.bufferPages, machine).bytes, this.#due);
    }
    void keepRunning(attached, this.means, (text) => this.tell({ fact: "note", text: `${attached.stream}: ${text}` }));
  }
}
