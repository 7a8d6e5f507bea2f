import type { Event } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import type { SpanSink } from "../events/span.ts";
import { splitBase } from "../events/time.ts";
import type { Child, ChildEnd } from "../machine/child.ts";
import type { Guard } from "../machine/guard.ts";
import type { Filter } from "../programs/filter.ts";
import type { Probe } from "../programs/probe.ts";
import { readCommandLine, readProcesses, readStat, treeOf } from "../target/process.ts";
import { probeOf } from "../timeline/dispatch.ts";
import type { Header } from "../timeline/header.ts";
import type { Pseudonyms } from "../timeline/pseudonyms.ts";
import type { Recorder } from "../timeline/recording.ts";
import { Timeline } from "../timeline/timeline.ts";
import { hostSchema } from "../timeline/host.ts";
import { watch } from "../timeline/watch.ts";
import type { Attached } from "./attached.ts";
import { isInference, rootOf } from "./election.ts";
import { Gatekeeper } from "./gatekeeper.ts";
import { HostStream } from "./host_stream.ts";
import { LibraryAttacher, type SiteMap } from "./library_attacher.ts";
import { groupByLibrary, type MakeCallGate } from "./library_groups.ts";
import type { Means } from "./means.ts";
import { Programs } from "./programs.ts";
import { targetEnded } from "./target_ended.ts";

/** A target that ran before llmprof came. */
export interface RunningTarget {
  readonly type: "running";
  readonly pid: number;
  readonly argv: readonly string[];
  /** Everything that belongs to it besides what these fork. */
  readonly pids: readonly number[];
  /** A container's own PID namespace, see {@link Filter}. */
  readonly pidNamespace?: number;
}

export type Target =
  /** Started by us and standing before its first instruction. */
  | { readonly type: "launched"; readonly pid: number; readonly argv: readonly string[]; readonly child: Child; readonly program: string }
  | RunningTarget
  /** The next inference process that starts. */
  | { readonly type: "next" };

export interface SessionOptions {
  readonly target: Target;
  /** Waits for a running target's next life when it has ended; null when nobody waits any more. Absent: the run ends with its target. */
  readonly again?: () => Promise<RunningTarget | null>;
  /** Children belong to the target. */
  readonly tree: boolean;
  readonly probes: readonly Probe[];
  readonly bufferPages: number;
  readonly guard: Guard;
  readonly mappingGate: (prefix: string, execs: boolean) => Probe;
  readonly callGate: MakeCallGate;
  /** A running target that has not mapped a library yet is waited for, instead of refused. */
  readonly patient: boolean;
  readonly find: (probe: string) => Probe | undefined;
  /** Everything of the header but what the session finds out. */
  readonly header: Omit<Header, "clock" | "target" | "root">;
  /** Called once, when the target and the clock are known: opens the outputs. `flush` is called several times a second: see HostStream. */
  readonly open: (header: Header) => { readonly out: SpanSink; readonly flush: () => void; readonly recording: Recorder | null };
  readonly onFact: (fact: Fact) => void;
  /** A thread of the target has ended: its `process/life.exit`. */
  readonly onExit?: (event: Event) => void;
  /** What takes the place of arguments and paths, in the recording too. */
  readonly pseudonyms?: Pseudonyms;
  /** Called when everything that was counted has been read: what is to be told at the end of the recording. */
  readonly conclude?: () => Promise<readonly Fact[]>;
  readonly progress: (progress: Progress) => void;
}

/** What a status line may tell. */
export type Progress =
  | { readonly state: "attaching" }
  | { readonly state: "waiting" }
  | { readonly state: "counting"; readonly pid: number; readonly sites: number }
  | { readonly state: "gate"; readonly pid: number; readonly what: "library mapped" | "call reached"; readonly milliseconds: number }
  /** The target ended, and its next life is waited for. */
  | { readonly state: "again"; readonly pid: number }
  /** The program that we started: how it ended, or null when it goes on without us. */
  | { readonly state: "left"; readonly pid: number; readonly end: ChildEnd | null }
  | { readonly state: "looking" }
  | { readonly state: "calibrating" }
  /** `overhead`: of the target's own CPU time; `calibrated`: what a hit costs was measured here. */
  | { readonly state: "predicted"; readonly overhead: number; readonly hitsPerSecond: number; readonly calibrated: boolean }
  | { readonly state: "draining" };

/** A look at the target takes a child process: the first comes soon, the others ever more rarely. */
const FIRST_LOOK_MS = 500, LONGEST_LOOK_MS = 8000;

/** One run over a target that may come, fork and go. */
export class Session {
  readonly #programs: Programs;
  /** Of this life of the target. */
  #libraries: LibraryAttacher;
  #target: Target;
  readonly #gatekeeper: Gatekeeper;
  readonly #failed = Promise.withResolvers<never>();
  #exited = Promise.withResolvers<void>();
  readonly #counting = Promise.withResolvers<void>();
  #timeline: Timeline | undefined;
  #host: HostStream | undefined;
  #root: { readonly pid: number; readonly argv: readonly string[] } | undefined;
  /** Processes that belong to the target, with what they fork: the root, and those that are no descendants of it, or not any more. */
  readonly #tops = new Set<number>();
  #election: Promise<void> | undefined;
  /** While the first programs are started: all of them look at the same processes, and every process of the machine is read once. */
  #firstFilter: Promise<Filter> | undefined;
  readonly #streams = new Set<string>();
  /** The run is to end, whatever its target does. */
  #stopped = false;
  /** Nothing is attached any more: the run ends, or a life of its target has. */
  #closing = false;
  #end: ChildEnd | null = null;

  constructor(readonly means: Means, readonly options: SessionOptions) {
    this.#failed.promise.catch(() => {});
    this.#programs = new Programs(means, options.bufferPages, (error) => this.#failed.reject(error));
    this.#gatekeeper = new Gatekeeper(means, options.guard, (event) => this.#atGate(event));
    this.#target = options.target;
    this.#libraries = this.#live(options.target);
  }

  /** There is none when the run ended while it waited for a target. */
  get timeline(): Timeline | undefined {
    return this.#timeline;
  }

  /** Resolves when the first window has opened and, for a program that we start, it has been let go. */
  get counting(): Promise<void> {
    return this.#counting.promise;
  }

  /** Libraries whose probes were attached, by stream. */
  get attachedStreams(): ReadonlySet<string> {
    return this.#streams;
  }

  /** The first process of the target in its present or last life; undefined while one is waited for that nobody has named. */
  get pid(): number | undefined {
    return this.#root?.pid;
  }

  /**
   * Runs until the target ends (for good, where it may come again) or `stop` resolves, then drains and closes the timeline. Throws when a program
   * cannot be attached or dies; what was seen until then has been written.
   */
  async run(stop: Promise<unknown>): Promise<void> {
    const { target, guard, again } = this.options;
    let released = target.type !== "launched";
    void stop.then(() => this.#stopped = true);
    try {
      await Promise.race([again ? this.#start().catch((error) => this.#unlessGone(error)) : this.#start(), stop]);
      if (target.type === "launched" && this.#timeline) {
        target.child.kill("SIGCONT");
        guard.released(target.pid);
        released = true;
      }
      await Promise.race([stop, this.#targetEnd(), this.#failed.promise]);
      if (target.type === "launched" && released) this.options.progress({ state: "left", pid: target.pid, end: this.#end });
      if (again) await this.#liveAgain(again, stop);
    } finally {
      this.#closing = true;
      this.options.progress({ state: "draining" });
      // Nobody is left standing, and a program that never began does not begin now.
      await this.#gatekeeper.idle();
      if (!released && target.type === "launched") target.child.kill("SIGKILL");
      await this.#close();
    }
    if (this.#gatekeeper.failure) throw this.#gatekeeper.failure;
  }

  /** bpftrace detaches slowly, and nothing is left to learn from it: resolves when no process of the run is left. */
  ended(): Promise<void> {
    return this.#programs.ended();
  }

  /** A life of the target begins: nothing is attached to it yet. */
  #live(target: Target): LibraryAttacher {
    this.#target = target;
    this.#tops.clear();
    if (target.type !== "next") {
      this.#root = target;
      for (const pid of target.type === "running" ? target.pids : [target.pid]) this.#tops.add(pid);
    }
    const { probes, callGate } = this.options;
    return this.#libraries = new LibraryAttacher(
      this.means,
      groupByLibrary(probes, callGate),
      (stream, probes, sites) => this.#startLibrary(stream, probes, sites),
      (fact) => this.#fact(fact),
    );
  }

  /** One life after another, each with programs of its own in the same trace, until `stop` resolves or nobody waits for another. */
  async #liveAgain(again: () => Promise<RunningTarget | null>, stop: Promise<unknown>): Promise<void> {
    while (!this.#stopped) {
      const { pid } = this.#root!;
      this.#fact({ fact: "ended", pid });
      this.#closing = true;
      await this.#gatekeeper.idle();
      await this.#endPrograms();
      this.options.progress({ state: "again", pid });
      const target = await Promise.race([again(), stop.then(() => null)]);
      if (!target) return;
      this.#fact({ fact: "note", text: `process ${pid} ended and process ${target.pid} came after it: both are in this trace` });
      this.#closing = false;
      this.#exited = Promise.withResolvers();
      this.#live(target);
      await Promise.race([this.#start().catch((error) => this.#unlessGone(error)), stop]);
      await Promise.race([stop, this.#targetEnd(), this.#failed.promise]);
    }
  }

  /** A life that was over before everything was attached is one of many. */
  async #unlessGone(error: unknown): Promise<void> {
    const stat = await readStat(this.means.files, this.#root!.pid);
    if (stat && stat.state !== "Z") throw error;
  }

  async #start(): Promise<void> {
    const { progress, again } = this.options;
    const target = this.#target;
    // The next process is waited for, or this one's end, so as not to miss the one that comes after it.
    const prompt = target.type === "next" || again !== undefined;
    progress({ state: "attaching" });
    // Loading bpftrace takes longer than to find out what its programs are.
    if (target.type === "running") this.#programs.prepare([{ unsafe: false, prompt }, ...this.#libraries.expectedAtOnce]);
    this.#firstFilter = this.#filter();
    const filter = await this.#firstFilter;
    const kernel = this.options.probes.filter((probe) => !probe.library && this.#possible(probe));
    const process = this.#programs.start({ stream: "process", probes: kernel, filter, prompt });
    process.onEvent = (event) => {
      if (event.record !== "process/life.exit") return;
      this.options.onExit?.(event);
      if (event.pid === event.tid && event.pid === this.#root?.pid) this.#exited.resolve();
    };
    const gates = target.type === "running" ? [] : this.#libraries.gatePrefixes.map((prefix) => this.#startGate(prefix, filter));
    // After the gates, which would take what is kept for those that they stop for.
    if (target.type !== "running") this.#programs.prepare(this.#libraries.expected);
    await Promise.all([...[process, ...gates].map((a) => this.#programs.ready(a)), this.#prepareLibraries(filter)]);
    this.#firstFilter = undefined;
    if (target.type === "running" && !(await readStat(this.means.files, target.pid))) throw targetEnded(target.pid);
    if (target.type !== "next") return this.#timeline ? this.#counts() : this.#begin();
    const elect = (event: Event) => void (isInference(event) && this.#elect(event.pid));
    process.tap.whileWaiting = watch(process.program.schema, { event: elect });
    for (const gate of gates) gate.tap.whileWaiting = watch(gate.program.schema, { event: (event) => this.#gatekeeper.event(event) });
    for (const attached of [process, ...gates]) attached.openWindow();
    progress({ state: "waiting" });
  }

  #startGate(prefix: string, filter: Filter): Attached {
    void this.options.guard.armed();
    const stream = `gate-${prefix.replace(/[^\w-]/g, "_")}`;
    // Of programs that start anywhere on the machine nobody is stopped for being started.
    const execs = filter.type !== "new";
    if (execs) { for (const pid of this.#tops) void this.options.guard.mayStop(pid); }
    const gate = this.#programs.start({ stream, probes: [this.options.mappingGate(prefix, execs)], filter, prompt: true });
    gate.onEvent = (event) => this.#gatekeeper.event(event);
    return gate;
  }

  #prepareLibraries(filter: Filter): Promise<void> | undefined {
    const target = this.#target;
    if (target.type === "launched") return this.#libraries.inspect(target.program);
    return target.type === "running" ? this.#attachRunning(filter) : undefined;
  }

  /** For a running target: what is mapped is attached at once; what is not is waited for at a gate, if somebody wants to wait. */
  async #attachRunning(filter: Filter): Promise<void> {
    const pids = filter.type === "new" ? [] : filter.pids;
    const missing = await this.#libraries.atStart(pids);
    if (missing.length === 0) return;
    if (!(await readStat(this.means.files, this.#root!.pid))) throw targetEnded(this.#root!.pid);
    if (!this.options.patient) throw await this.#libraries.whyMissing(pids, missing);
    const prefixes = new Set(missing.filter(({ need }) => need.ready === "mapped").map(({ need }) => need.prefix));
    await Promise.all([...prefixes].map((prefix) => this.#programs.ready(this.#startGate(prefix, filter))));
  }

  /** The clock and the target are known: opens the outputs and lets what was kept flow. */
  #begin(): void {
    // Somebody ended the run while it began.
    if (this.#closing) return;
    const { open, header, find, onFact } = this.options;
    const target = this.#target;
    const { clock } = this.#programs;
    const root = this.#root!;
    const full: Header = {
      ...header,
      clock: { name: clock!.name, base: clock!.base, realtimeOffset: clock!.realtimeOffset },
      target: { pid: root.pid, argv: root.argv, started: target.type === "launched" },
      ...(target.type === "next" && { root: root.pid }),
    };
    const { out, flush, recording } = open(this.options.pseudonyms?.header(full) ?? full);
    this.#timeline = new Timeline({ base: splitBase(clock!.base), find, out, onFact, ...(full.root !== undefined && { root: full.root }) });
    this.#host = new HostStream(clock!, this.#timeline, recording?.stream(hostSchema) ?? null, flush, this.options.pseudonyms);
    this.#programs.begin(this.#timeline, recording, this.options.pseudonyms);
    this.#counts();
    this.#counting.resolve();
  }

  #counts(): void {
    this.#flushFacts();
    this.options.progress({ state: "counting", pid: this.#root!.pid, sites: this.#programs.sites });
  }

  /** The first process that shows itself is the target, with the tree that it belongs to. */
  #elect(pid: number): Promise<void> {
    return this.#election ??= (async () => {
      const root = await rootOf(this.means.files, pid, this.means.self);
      this.#tops.add(root);
      this.#root = { pid: root, argv: await readCommandLine(this.means.files, root) ?? [] };
      this.#begin();
      // A program that the library is linked into never comes to the gate.
      this.#gatekeeper.meanwhile(async () => void await this.#libraries.atMapping(pid));
    })();
  }

  async #atGate(event: Event): Promise<void> {
    const began = this.means.monotonic();
    // It goes on at once: nobody attaches any more.
    if (this.#closing) return;
    if (this.#target.type === "next") await this.#elect(event.pid);
    if (this.#target.type !== "next") this.#tops.add(event.pid);
    else if (!(await this.#tree()).includes(event.pid)) return;
    const isCall = probeOf(event.record) === "gate/call";
    if (isCall) await this.#libraries.atCall(event.pid);
    // A program without the library: of most that a shell starts.
    else if (await this.#libraries.atMapping(event.pid) === 0) return;
    const what = isCall ? "call reached" : "library mapped";
    this.options.progress({ state: "gate", pid: event.pid, what, milliseconds: this.means.monotonic() - began });
  }

  async #startLibrary(stream: string, probes: readonly Probe[], sites: SiteMap): Promise<void> {
    const isGate = probes.some((probe) => probe.unsafe);
    if (isGate) await this.options.guard.armed();
    const filter = await (this.#firstFilter ?? this.#filter());
    const attached = this.#programs.start({ stream, probes, filter, sites, prompt: isGate });
    attached.onEvent = (event) => {
      if (isGate) this.#gatekeeper.event(event);
      if (this.#libraries.announces(event.record) && !this.#closing) this.#gatekeeper.meanwhile(() => this.#libraries.atCall(event.pid));
    };
    await this.#programs.ready(attached);
    this.#streams.add(stream);
    this.#flushFacts();
  }

  async #filter(): Promise<Filter> {
    const { tree } = this.options;
    const target = this.#target;
    if (!this.#root) return { type: "new" };
    const pids = await this.#tree();
    if (!tree) return { type: "processes", pids };
    return { type: "tree", pids, ...(target.type === "running" && target.pidNamespace !== undefined && { pidNamespace: target.pidNamespace }) };
  }

  async #tree(): Promise<number[]> {
    if (!this.options.tree) return [...this.#tops];
    const processes = await readProcesses(this.means.files);
    return [...new Set([...this.#tops].flatMap((top) => treeOf(processes, top)))];
  }

  #possible(probe: Probe): boolean {
    const missing = (probe.tracepoints ?? []).filter((name) => !this.means.machine.tracepoints.has(name));
    if (missing.length > 0) this.#fact({ fact: "note", text: `${probe.summary}: not seen here, this kernel has no ${missing.join(", ")}` });
    return missing.length === 0;
  }

  async #targetEnd(): Promise<void> {
    const target = this.#target;
    const exited = this.#exited.promise;
    if (target.type === "launched") {
      this.#end = await target.child.status;
      this.#fact({ fact: "exit", pid: target.pid, code: this.#end.code, signal: this.#end.signal });
      return;
    }
    // Its exit is seen at once where tracepoints tell; a look finds it where it ended before they were attached.
    let gone = false;
    void exited.then(() => gone = true);
    for (let look = FIRST_LOOK_MS; !gone && this.#target === target; look = Math.min(2 * look, LONGEST_LOOK_MS)) {
      await Promise.race([exited, this.means.sleep(look)]);
      if (this.#root && !(await readStat(this.means.files, this.#root.pid))) gone = true;
    }
  }

  #fact(fact: Fact): void {
    this.#programs.facts.push(fact);
    this.#flushFacts();
  }

  #flushFacts(): void {
    if (this.#host) { for (const fact of this.#programs.facts.splice(0)) this.#host.fact(fact); }
  }

  async #endPrograms(): Promise<void> {
    const ended = await this.#programs.end();
    if (ended.some(({ program, read }) => program.unsafe && !read)) this.options.guard.unheard();
    this.#flushFacts();
    for (const { tap } of ended) tap.close();
  }

  async #close(): Promise<void> {
    await this.#endPrograms();
    if (this.#timeline) { for (const fact of await this.options.conclude?.() ?? []) this.#fact(fact); }
    this.#host?.close();
    this.#timeline?.finish();
  }
}
