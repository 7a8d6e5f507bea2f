import type { Event } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import type { ChildEnd } from "../machine/child.ts";
import type { Guard } from "../machine/guard.ts";
import type { Filter } from "../programs/filter.ts";
import type { Probe } from "../programs/probe.ts";
import { hasEnded, readCommandLine, readProcesses, readStat, treeOf } from "../target/process.ts";
import { probeOf } from "../timeline/dispatch.ts";
import { watch } from "../timeline/watch.ts";
import type { Attached } from "./attached.ts";
import { isInference, rootOf } from "./election.ts";
import type { Gatekeeper } from "./gatekeeper.ts";
import { LibraryAttacher, type SiteMap } from "./library_attacher.ts";
import { expectedAtOnce, gateStream, groupByLibrary, type MakeCallGate } from "./library_groups.ts";
import type { Means } from "./means.ts";
import type { Programs } from "./programs.ts";
import type { Progress } from "./progress.ts";
import type { RunningTarget, Target } from "./target.ts";
import { targetEnded } from "./target_ended.ts";
import type { Turn, Turns } from "./turns.ts";

export interface LifeOptions {
  /** Waits for a running target's next life when it has ended; null when nobody waits any more. Absent: the run ends with its target. */
  readonly again?: () => Promise<RunningTarget | null>;
  readonly turns?: Turns;
  /** Children belong to the target. */
  readonly tree: boolean;
  readonly probes: readonly Probe[];
  readonly guard: Guard;
  readonly mappingGate: (prefix: string, execs: boolean) => Probe;
  readonly callGate: MakeCallGate;
  /** A running target that has not mapped a library yet is waited for, instead of refused. */
  readonly patient: boolean;
  readonly progress: (progress: Progress) => void;
  /** A thread of the target has ended: its `process/life.exit`. */
  readonly onExit?: (event: Event) => void;
}

/** The run that a life is a part of. */
export interface Run {
  readonly programs: Programs;
  readonly gatekeeper: Gatekeeper;
  /** The target is known and its first programs are attached: from now on everything counts. */
  counts(life: Life): void;
  /** The probes of a library are attached. */
  attached(stream: string): void;
  fact(fact: Fact): void;
}

/** A look at the target takes a child process: the first comes soon, the others ever more rarely. */
const FIRST_LOOK_MS = 500, LONGEST_LOOK_MS = 8000;

/** One life of a target, from attaching to it until it ends: who belongs to it, and what is attached to these. */
export class Life {
  readonly #libraries: LibraryAttacher;
  #root: { readonly pid: number; readonly argv: readonly string[] } | undefined;
  /** Processes that belong to the target, with what they fork: the root, and those that are no descendants of it, or not any more. */
  readonly #tops = new Set<number>();
  #election: Promise<void> | undefined;
  /** While the first programs are started: all of them look at the same processes, and every process of the machine is read once. */
  #firstFilter: Promise<Filter> | undefined;
  #counts = false;
  /** A program that we started was let go. */
  #released = false;
  /** Nothing is attached any more. */
  #left = false;
  readonly #exited = Promise.withResolvers<void>();
  /** Of a program that we started. */
  #end: ChildEnd | null = null;

  /** `turn`: it is left when that is over. */
  constructor(readonly means: Means, readonly target: Target, readonly options: LifeOptions, readonly run: Run, readonly turn?: Turn) {
    if (target.type !== "next") {
      this.#root = target;
      for (const pid of target.type === "running" ? target.pids : [target.pid]) this.#tops.add(pid);
    }
    this.#libraries = new LibraryAttacher(
      means,
      groupByLibrary(this.#probes, options.callGate),
      (stream, probes, sites) => this.#startLibrary(stream, probes, sites),
      (fact) => run.fact(fact),
    );
  }

  get #probes(): readonly Probe[] {
    return this.turn?.probes ?? this.options.probes;
  }

  /** The first process of the target; undefined while one is waited for that nobody has named. */
  get root(): { readonly pid: number; readonly argv: readonly string[] } | undefined {
    return this.#root;
  }

  /**
   * Attaches, lets a program that we started go, and resolves when the target has ended (`true`), or its turn is over or `stop` resolves. Throws when
   * something cannot be attached (unless it is one of many, and was over before everything was), and what `failed` throws.
   */
  async live(stop: Promise<unknown>, failed: Promise<never>, isOneOfMany: boolean): Promise<boolean> {
    const { target } = this;
    const { guard, progress } = this.options;
    await Promise.race([isOneOfMany ? this.#attach().catch((error) => this.#unlessGone(error)) : this.#attach(), stop]);
    if (target.type === "launched" && this.#counts) {
      target.child.kill("SIGCONT");
      guard.released(target.pid);
      this.#released = true;
    }
    const over = [stop, ...(this.turn ? [this.turn.over()] : [])];
    const isOver = await Promise.race([...over.map((end) => end.then(() => false)), this.#ended().then(() => true), failed]);
    if (this.#released) progress({ state: "left", pid: this.#root!.pid, end: this.#end });
    return isOver;
  }

  /** Nothing is attached to it any more, and whoever comes to the gate goes on at once. */
  leave(): void {
    this.#left = true;
  }

  /** A program that never began does not begin now. */
  abandon(): void {
    if (this.target.type === "launched" && !this.#released) this.target.child.kill("SIGKILL");
  }

  /** Somebody has stood at a gate `since` then. */
  async atGate(event: Event, since: number): Promise<void> {
    if (this.#left) return;
    if (this.target.type === "next") {
      await this.#elect(event.pid);
      if (!(await this.#tree()).includes(event.pid)) return;
    } else this.#tops.add(event.pid);
    const isCall = probeOf(event.record) === "gate/call";
    if (isCall) await this.#libraries.atCall(event.pid);
    // A program without the library: of most that a shell starts.
    else if (await this.#libraries.atMapping(event.pid) === 0) return;
    const what = isCall ? "call reached" : "library mapped";
    this.options.progress({ state: "gate", pid: event.pid, what, milliseconds: this.means.monotonic() - since });
  }

  async #attach(): Promise<void> {
    const { target } = this;
    const { progress, again, onExit } = this.options;
    const { programs, gatekeeper } = this.run;
    // The next process is waited for, or this one's end, so as not to miss the one that comes after it.
    const prompt = target.type === "next" || again !== undefined;
    progress({ state: "attaching" });
    // Loading bpftrace takes longer than to find out what its programs are.
    if (target.type === "running") programs.prepare(expectedAtOnce(this.#libraries.groups, prompt));
    this.#firstFilter = this.#filter();
    const filter = await this.#firstFilter;
    const kernel = this.#probes.filter((probe) => !probe.library && this.#possible(probe));
    const process = programs.start({ stream: "process", probes: kernel, filter, prompt });
    process.onEvent = (event) => {
      if (event.record !== "process/life.exit") return;
      onExit?.(event);
      if (event.pid === event.tid && event.pid === this.#root?.pid) this.#exited.resolve();
    };
    const gates = target.type === "running" ? [] : this.#libraries.gatePrefixes.map((prefix) => this.#startGate(prefix, filter));
    // After the gates, which would take what is kept for those that they stop for.
    if (target.type !== "running") programs.prepare(this.#libraries.expected);
    await Promise.all([...[process, ...gates].map((a) => programs.ready(a)), this.#prepareLibraries(filter)]);
    this.#firstFilter = undefined;
    if (target.type === "running" && !(await readStat(this.means.files, target.pid))) throw targetEnded(target.pid);
    if (target.type !== "next") return this.#count();
    const elect = (event: Event) => void (isInference(event) && this.#elect(event.pid));
    process.tap.whileWaiting = watch(process.program.schema, { event: elect });
    for (const gate of gates) gate.tap.whileWaiting = watch(gate.program.schema, { event: (event) => gatekeeper.event(event) });
    for (const attached of [process, ...gates]) attached.openWindow();
    progress({ state: "waiting" });
  }

  #startGate(prefix: string, filter: Filter): Attached {
    const { guard, mappingGate } = this.options;
    const { programs, gatekeeper } = this.run;
    // Of programs that start anywhere on the machine nobody is stopped for being started.
    const execs = filter.type !== "new";
    if (execs) { for (const pid of this.#tops) void guard.mayStop(pid); }
    const gate = programs.start({ stream: gateStream(prefix), probes: [mappingGate(prefix, execs)], filter, prompt: true });
    void guard.armed(gate.running.pid);
    gate.onEvent = (event) => gatekeeper.event(event);
    return gate;
  }

  #prepareLibraries(filter: Filter): Promise<void> | undefined {
    const { target } = this;
    if (target.type === "launched") return this.#libraries.inspect(target.program);
    return target.type === "running" ? this.#attachRunning(filter) : undefined;
  }

  /** For a running target: what is mapped is attached at once; what is not is waited for at a gate, if somebody wants to wait. */
  async #attachRunning(filter: Filter): Promise<void> {
    const pids = filter.type === "new" ? [] : filter.pids;
    const missing = await this.#libraries.atStart(pids, this.options.patient);
    if (missing.length === 0) return;
    if (!(await readStat(this.means.files, this.#root!.pid))) throw targetEnded(this.#root!.pid);
    if (!this.options.patient) {
      const why = await this.#libraries.whyMissing(pids, missing);
      if (why) throw why;
      return this.#attachRunning(filter);
    }
    const prefixes = new Set(missing.filter(({ need }) => need.ready === "mapped").map(({ need }) => need.prefix));
    await Promise.all([...prefixes].map((prefix) => this.run.programs.ready(this.#startGate(prefix, filter))));
  }

  async #startLibrary(stream: string, probes: readonly Probe[], sites: SiteMap): Promise<void> {
    const { programs, gatekeeper } = this.run;
    const isGate = probes.some((probe) => probe.unsafe);
    const filter = await (this.#firstFilter ?? this.#filter());
    const attached = programs.start({ stream, probes, filter, sites, prompt: isGate });
    if (isGate) void this.options.guard.armed(attached.running.pid);
    attached.onEvent = (event) => {
      if (isGate) gatekeeper.event(event);
      if (this.#libraries.announces(event.record) && !this.#left) gatekeeper.meanwhile(() => this.#libraries.atCall(event.pid));
    };
    await programs.ready(attached);
    this.run.attached(stream);
  }

  /** The first process that shows itself is the target, with the tree that it belongs to. */
  #elect(pid: number): Promise<void> {
    return this.#election ??= (async () => {
      const root = await rootOf(this.means.files, pid, this.means.self);
      this.#tops.add(root);
      this.#root = { pid: root, argv: await readCommandLine(this.means.files, root) ?? [] };
      this.#count();
      // A program that the library is linked into never comes to the gate.
      this.run.gatekeeper.meanwhile(async () => void await this.#libraries.atMapping(pid));
    })();
  }

  #count(): void {
    // Somebody ended the run while it began.
    if (this.#left) return;
    this.run.counts(this);
    this.#counts = true;
  }

  async #filter(): Promise<Filter> {
    const { target } = this;
    if (!this.#root) return { type: "new" };
    const pids = await this.#tree();
    if (!this.options.tree) return { type: "processes", pids };
    return { type: "tree", pids, ...(target.type === "running" && target.pidNamespace !== undefined && { pidNamespace: target.pidNamespace }) };
  }

  async #tree(): Promise<number[]> {
    if (!this.options.tree) return [...this.#tops];
    const processes = await readProcesses(this.means.files);
    return [...new Set([...this.#tops].flatMap((top) => treeOf(processes, top)))];
  }

  #possible(probe: Probe): boolean {
    const missing = (probe.tracepoints ?? []).filter((name) => !this.means.machine.tracepoints.has(name));
    if (missing.length > 0) this.run.fact({ fact: "note", text: `${probe.summary}: not seen here, this kernel has no ${missing.join(", ")}` });
    return missing.length === 0;
  }

  async #unlessGone(error: unknown): Promise<void> {
    if (!(await hasEnded(this.means.files, this.#root!.pid))) throw error;
  }

  async #ended(): Promise<void> {
    const { target } = this;
    if (target.type === "launched") {
      this.#end = await target.child.status;
      this.run.fact({ fact: "exit", pid: target.pid, code: this.#end.code, signal: this.#end.signal });
      return;
    }
    // Its exit is seen at once where tracepoints tell; a look finds it where it ended before they were attached.
    let gone = false;
    void this.#exited.promise.then(() => gone = true);
    for (let look = FIRST_LOOK_MS; !gone && !this.#left; look = Math.min(2 * look, LONGEST_LOOK_MS)) {
      await Promise.race([this.#exited.promise, this.means.sleep(look)]);
      if (this.#root && !(await readStat(this.means.files, this.#root.pid))) gone = true;
    }
  }
}
