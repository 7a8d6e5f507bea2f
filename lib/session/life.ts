import type { Event } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import type { ChildEnd } from "../machine/child.ts";
import type { Guard } from "../machine/guard.ts";
import type { Filter } from "../programs/filter.ts";
import type { Probe } from "../programs/probe.ts";
import { hasEnded, readStat } from "../target/process.ts";
import { probeOf } from "../timeline/dispatch.ts";
import { watch } from "../timeline/watch.ts";
import type { Attached } from "./attached.ts";
import { isInference } from "./election.ts";
import type { Gatekeeper } from "./gatekeeper.ts";
import { inOne, LibraryAttacher, type LibraryPart, type Present } from "./library_attacher.ts";
import { gateStream, groupByLibrary, type MakeCallGate } from "./library_groups.ts";
import type { Means } from "./means.ts";
import { Members } from "./members.ts";
import type { ProgramOptions, Programs } from "./programs.ts";
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

/** One life of a target, from attaching to it until it ends. */
export class Life {
  readonly #libraries: LibraryAttacher;
  readonly #members: Members;
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
    this.#members = new Members(means, target, options.tree);
    this.#libraries = new LibraryAttacher(
      means,
      groupByLibrary(this.#probes, options.callGate),
      (parts) => this.#startLibraries(parts),
      (fact) => run.fact(fact),
    );
  }

  get #probes(): readonly Probe[] {
    return this.turn?.probes ?? this.options.probes;
  }

  /** See {@link Members.root}. */
  get root(): Members["root"] {
    return this.#members.root;
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
    if (this.#released) progress({ state: "left", pid: this.root!.pid, end: this.#end });
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
      if (!(await this.#members.now()).includes(event.pid)) return;
    } else this.#members.add(event.pid);
    const isCall = probeOf(event.record) === "gate/call";
    if (isCall) await this.#libraries.atCall(event.pid);
    // A program without the library: of most that a shell starts.
    else if (await this.#libraries.atMapping(event.pid) === 0) return;
    const what = isCall ? "call reached" : "library mapped";
    this.options.progress({ state: "gate", pid: event.pid, what, milliseconds: this.means.monotonic() - since });
  }

  async #attach(): Promise<void> {
    this.options.progress({ state: "attaching" });
    this.#firstFilter = this.#members.filter();
    await (this.target.type === "running" ? this.#attachRunning(this.target) : this.#attachStarting(this.target));
    this.#firstFilter = undefined;
  }

  /** It has mapped nothing yet, and will stop at gates for its libraries. */
  async #attachStarting(target: Exclude<Target, RunningTarget>): Promise<void> {
    const { programs, gatekeeper } = this.run;
    const filter = await this.#firstFilter!;
    const isWaiting = target.type === "next";
    const process = this.#start({ ...this.#kernel, filter, prompt: isWaiting });
    const gates = this.#libraries.gatePrefixes.map((prefix) => this.#startGate(prefix, filter));
    // After the gates, which would take what is kept for those that they stop for.
    programs.prepare(this.#libraries.expected);
    const ready = [process, ...gates].map((attached) => programs.ready(attached));
    await Promise.all([...ready, isWaiting ? null : this.#libraries.inspect(target.program)]);
    if (!isWaiting) return this.#count();
    const elect = (event: Event) => void (isInference(event) && this.#elect(event.pid));
    process.tap.whileWaiting = watch(process.program.schema, { event: elect });
    for (const gate of gates) gate.tap.whileWaiting = watch(gate.program.schema, { event: (event) => gatekeeper.event(event) });
    for (const attached of [process, ...gates]) attached.openWindow();
    this.options.progress({ state: "waiting" });
  }

  /**
   * What is mapped is attached at once, with all the rest in one program: several bpftraces would take the CPU from one another, and from the target.
   * What is not is waited for at a gate, if somebody wants to wait.
   */
  async #attachRunning({ pid }: RunningTarget): Promise<void> {
    const { programs } = this.run;
    const { again, patient } = this.options;
    // Its end is waited for, so as not to miss the one that comes after it.
    const prompt = again !== undefined;
    // Loading bpftrace takes longer than to find out what its program is.
    programs.prepare([{ unsafe: false, prompt }]);
    const filter = await this.#firstFilter!;
    const pids = filter.type === "new" ? [] : filter.pids;
    const present = await this.#present(pids);
    const kernel = this.#kernel;
    if (present.missing.length === 0 && !prompt) {
      await this.#libraries.attach(present, async (parts) => {
        await programs.ready(this.#start({ ...inOne([kernel, ...parts]), filter }));
        for (const { stream } of parts) this.run.attached(stream);
      });
    } else {
      const prefixes = new Set(present.missing.filter(({ need }) => need.ready === "mapped").map(({ need }) => need.prefix));
      const others = [this.#start({ ...kernel, filter, prompt }), ...[...prefixes].map((prefix) => this.#startGate(prefix, filter))];
      await Promise.all([this.#libraries.attach(present), ...others.map((attached) => programs.ready(attached))]);
      // What was mapped after the first look and before there was a gate.
      if (prefixes.size > 0) await this.#libraries.attach(await this.#libraries.present(pids, patient));
    }
    if (!(await readStat(this.means.files, pid))) throw targetEnded(pid);
    this.#count();
  }

  /** Throws where something is missing that nobody waits for. */
  async #present(pids: readonly number[]): Promise<Present> {
    const { pid } = this.root!;
    for (;;) {
      const present = await this.#libraries.present(pids, this.options.patient);
      if (present.missing.length === 0) return present;
      if (!(await readStat(this.means.files, pid))) throw targetEnded(pid);
      if (this.options.patient) return present;
      const why = await this.#libraries.whyMissing(pids, present.missing);
      if (why) throw why;
    }
  }

  get #kernel(): LibraryPart {
    const probes = this.#probes.filter((probe) => !probe.library && this.#possible(probe));
    return { stream: "process", probes, sites: new Map() };
  }

  #startGate(prefix: string, filter: Filter): Attached {
    const { guard, mappingGate } = this.options;
    // Of programs that start anywhere on the machine nobody is stopped for being started.
    const execs = filter.type !== "new";
    if (execs) { for (const pid of this.#members.tops) void guard.mayStop(pid); }
    return this.#start({ stream: gateStream(prefix), probes: [mappingGate(prefix, execs)], filter });
  }

  async #startLibraries(parts: readonly LibraryPart[]): Promise<void> {
    const filter = await (this.#firstFilter ?? this.#members.filter());
    await Promise.all(parts.map(async (part) => {
      await this.run.programs.ready(this.#start({ ...part, filter }));
      this.run.attached(part.stream);
    }));
  }

  #start(options: ProgramOptions): Attached {
    const { programs, gatekeeper } = this.run;
    const isGate = options.probes.some((probe) => probe.unsafe);
    const attached = programs.start({ ...options, prompt: options.prompt || isGate });
    if (isGate) void this.options.guard.armed(attached.running.pid);
    attached.onEvent = (event) => {
      if (isGate) gatekeeper.event(event);
      if (event.record === "process/life.exit") this.#exit(event);
      else if (this.#libraries.announces(event.record) && !this.#left) gatekeeper.meanwhile(() => this.#libraries.atCall(event.pid));
    };
    return attached;
  }

  #exit(event: Event): void {
    this.options.onExit?.(event);
    if (event.pid === event.tid && event.pid === this.root?.pid) this.#exited.resolve();
  }

  /** The first process that shows itself is the target, with the tree that it belongs to. */
  #elect(pid: number): Promise<void> {
    return this.#election ??= (async () => {
      await this.#members.elect(pid);
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

  #possible(probe: Probe): boolean {
    const missing = (probe.tracepoints ?? []).filter((name) => !this.means.machine.tracepoints.has(name));
    if (missing.length > 0) this.run.fact({ fact: "note", text: `${probe.summary}: not seen here, this kernel has no ${missing.join(", ")}` });
    return missing.length === 0;
  }

  async #unlessGone(error: unknown): Promise<void> {
    if (!(await hasEnded(this.means.files, this.root!.pid))) throw error;
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
      if (this.root && !(await readStat(this.means.files, this.root.pid))) gone = true;
    }
  }
}
