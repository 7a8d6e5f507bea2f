import type { Event } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import type { Guard } from "../machine/guard.ts";
import { FilesOnce } from "../machine/files_once.ts";
import type { Filter } from "../programs/filter.ts";
import { readMapped } from "../programs/found_libraries.ts";
import type { Probe } from "../programs/probe.ts";
import { readStat } from "../target/process.ts";
import { watch } from "../timeline/watch.ts";
import type { Attached } from "./attached.ts";
import type { Gatekeeper } from "./gatekeeper.ts";
import { LibraryAttacher, type Present } from "./library_attacher.ts";
import { groupByLibrary, stillAwaited } from "./library_groups.ts";
import type { Means } from "./means.ts";
import type { Members } from "./members.ts";
import { countable, gateParts, inPrograms, kernelPart, type ProgramPart, splitOnTop } from "./program_part.ts";
import type { ProgramOptions, Programs } from "./programs.ts";
import { targetEnded } from "./target_ended.ts";
import type { Unwinding } from "./unwinding.ts";
import { neededAtOnce, whyMissing } from "./why_missing.ts";

export interface AttachOptions {
  readonly guard: Guard;
  /** A running target that has not mapped a library yet is waited for, instead of refused. */
  readonly patient: boolean;
}

/** The run that the programs are a part of. */
export interface AttachRun {
  readonly programs: Programs;
  readonly gatekeeper: Gatekeeper;
  readonly unwinding: Unwinding;
  /** The probes of a library are attached. */
  attached(stream: string): void;
  fact(fact: Fact): void;
}

/** The programs of one life of a target: which there are, and when each of them is started. */
export class Attachments {
  readonly libraries: LibraryAttacher;
  /** While the first programs are started: all of them look at the same processes, and every process of the machine is read once. */
  #firstFilter: Promise<Filter> | undefined;
  /** Whoever maps a library stops, or it was said why nobody does. */
  #isGated = false;
  /** Nothing more is attached. */
  #left = false;
  readonly #note = (text: string): void => this.run.fact({ fact: "note", text });
  /** Is handed every event as long as nobody is the target, who may be anybody. */
  whileWaiting: ((event: Event) => void) | undefined;

  /** `heard`: is handed every event. */
  constructor(
    readonly means: Means,
    readonly members: Members,
    readonly probes: readonly Probe[],
    readonly options: AttachOptions,
    readonly run: AttachRun,
    readonly heard: (event: Event) => void,
  ) {
    this.libraries = new LibraryAttacher(
      means,
      groupByLibrary(countable(probes, means.machine, this.#note)),
      (parts) => this.#startLibraries(parts),
      (fact) => run.fact(fact),
      (files, pids, shared) => {
        // What is attached behind it is loaded meanwhile.
        if (shared.size > 0) run.programs.prepare([{ unsafe: false, prompt: false }]);
        return run.unwinding.cover(files, pids, shared);
      },
    );
  }

  leave(): void {
    this.#left = true;
  }

  /**
   * To what has mapped nothing yet: the programs that it needs no library for, and the gate at which it will stop for its libraries. `program`: its file,
   * where it is known. `prompt`: somebody acts on what it does.
   */
  async toStarting(prompt: boolean, program?: string): Promise<void> {
    const { programs } = this.run;
    const filter = await this.#first();
    const all = [...this.#startParts({ ...this.#kernelPart(), filter, prompt }), ...this.#startGate(filter)];
    // After the gate, which would take what is kept for those that it stops for.
    programs.prepare(this.libraries.expected);
    await Promise.all([this.#ready(all, filter), program === undefined ? null : this.libraries.inspect(program)]);
    this.#firstFilter = undefined;
  }

  /**
   * To the running process: what is mapped is attached at once, with all the rest in one program, because several bpftraces would take the CPU from one
   * another and from the target. What is not is waited for at a gate, if somebody wants to wait.
   */
  async toRunning(pid: number, prompt: boolean): Promise<void> {
    const { programs } = this.run;
    // Loading bpftrace takes longer than to find out what its program is.
    programs.prepare([{ unsafe: false, prompt }]);
    const files = new FilesOnce(this.means.files);
    // What it has mapped is read beside who belongs to it.
    const [filter] = await Promise.all([this.#first(), readMapped(files, pid)]);
    const pids = filter.type === "new" ? [] : filter.pids;
    const present = await this.#present(pid, pids, files);
    const kernel = this.#kernelPart();
    const awaited = stillAwaited(this.libraries.groups, this.options.patient ? present.missing : []);
    if (awaited.length === 0 && !prompt) {
      await this.libraries.attach(present, async (parts) => {
        const all = inPrograms([kernel, ...parts]).flatMap((part) => this.#startParts({ ...part, filter }));
        await this.#ready(all, filter);
        for (const { stream } of parts) this.run.attached(stream);
      });
    } else {
      const gates = awaited.length > 0 ? this.#startGate(filter) : [];
      const others = [...this.#startParts({ ...kernel, filter, prompt }), ...gates];
      await Promise.all([this.libraries.attach(present), this.#ready(others, filter)]);
    }
    this.#firstFilter = undefined;
  }

  /**
   * Attaches what running processes, and those that they forked meanwhile, mapped while programs were attached to what was mapped before: an engine may
   * have been choosing its variant.
   */
  async again(): Promise<void> {
    if (!this.#left) await this.libraries.attach(await this.libraries.present(await this.members.now(), this.options.patient));
  }

  /**
   * A running target has begun a process, which may map another copy of a library: from now on it stops for that. Until then no gate was worth its price.
   * What has been mapped by the time that there is one is attached late.
   */
  async begunAnother(): Promise<void> {
    if (this.#left || this.#isGated) return;
    let gates: readonly Attached[] = [];
    try {
      const filter = await this.members.filter();
      if (this.#left) return;
      gates = this.#startGate(filter);
      await this.#ready(gates, filter);
    } catch (error) {
      const text = `nobody is stopped who maps another copy of a library, and what one computes is not seen (${
        error instanceof Error ? error.message : error
      })`;
      return void this.run.fact({ fact: "note", text });
    }
    if (gates.length > 0 && !this.#left) await this.libraries.attachLate(await this.members.now());
  }

  #first(): Promise<Filter> {
    return this.#firstFilter = this.#filter();
  }

  /** Where nobody is the target yet, a program sees all that have started since the first one began. */
  async #filter(): Promise<Filter> {
    const [filter, since] = [await this.members.filter(), this.run.programs.clock?.began];
    return filter.type === "new" && since !== undefined ? { type: "new", since } : filter;
  }

  /** Throws where something is missing that nobody waits for. */
  async #present(pid: number, pids: readonly number[], first: FilesOnce): Promise<Present> {
    for (let files = first;; files = new FilesOnce(this.means.files)) {
      const present = await this.libraries.present(pids, this.options.patient, files);
      const missing = neededAtOnce(present.missing);
      if (missing.length === 0) return present;
      if (!(await readStat(this.means.files, pid))) throw targetEnded(pid);
      if (this.options.patient) return present;
      const why = await whyMissing(this.means.files, pids, missing);
      if (why) throw why;
    }
  }

  #kernelPart(): ProgramPart {
    return kernelPart(this.probes, this.means.machine, this.#note);
  }

  /** None where nothing is waited for, or nobody may be stopped. */
  #startGate(filter: Filter): Attached[] {
    const gates = gateParts(this.libraries.groups, filter, this.means.self, this.#note);
    this.#isGated = true;
    if (gates.length > 0 && filter.type !== "new") { for (const pid of this.members.tops) void this.options.guard.mayStop(pid); }
    return gates.map((part) => this.#start({ ...part, filter }));
  }

  async #startLibraries(parts: readonly ProgramPart[]): Promise<void> {
    const filter = await (this.#firstFilter ?? this.#filter());
    await this.#ready(parts.map((part) => this.#startPart({ ...part, filter })), filter);
    for (const { stream } of parts) this.run.attached(stream);
  }

  /** Waits until these are attached. What the target forked meanwhile none of them has seen. */
  async #ready(all: readonly Attached[], filter: Filter): Promise<void> {
    const { programs } = this.run;
    await Promise.all(all.map((attached) => programs.ready(attached)));
    if (filter.type === "tree") await this.members.tellNewcomers(filter.pids, all.map(({ running }) => running.pid));
    for (const attached of all) {
      if (this.members.root) programs.join(attached);
      // Who is waited for is known by what it says.
      else attached.openWindow();
    }
  }

  #startParts(options: ProgramOptions & ProgramPart): readonly Attached[] {
    const [first, ...others] = splitOnTop(options, this.run.programs.dialect.rawTracepoints);
    return [this.#startPart({ ...options, ...first }), ...others.map((part) => this.#start({ ...options, ...part }))];
  }

  /** What its numbers stand for is told before its first event. */
  #startPart({ table, ...options }: ProgramOptions & ProgramPart): Attached {
    const attached = this.#start(options);
    if (table) this.run.fact({ fact: "table", stream: attached.stream, ...table });
    return attached;
  }

  #start(options: ProgramOptions): Attached {
    const { programs, gatekeeper } = this.run;
    const isGate = options.probes.some((probe) => probe.unsafe);
    const attached = programs.start({ ...options, prompt: options.prompt || isGate || options.probes.some(({ prompt }) => prompt) });
    if (isGate) gatekeeper.armed(attached.running.pid);
    const isEarly = this.members.root === undefined;
    const early = (event: Event) => {
      if (isGate) gatekeeper.event(event);
      this.whileWaiting?.(event);
    };
    if (isEarly) attached.tap.whileWaiting = watch(attached.program.schema, early);
    attached.onEvent = (event) => {
      // What was kept has been acted on.
      if (isGate && !(isEarly && attached.tap.catchesUp)) gatekeeper.event(event);
      const { record, pid } = event;
      if (this.libraries.announcing.has(record) && !this.#left) gatekeeper.meanwhile(() => this.libraries.atCall(pid));
      this.heard(event);
    };
    return attached;
  }
}
