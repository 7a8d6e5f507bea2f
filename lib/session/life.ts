import { LlmprofError } from "../events/errors.ts";
import type { Event } from "../events/event.ts";
import type { ChildEnd } from "../machine/child.ts";
import { Ending } from "../machine/ending.ts";
import { FilesOnce } from "../machine/files_once.ts";
import { noGuard } from "../machine/guard.ts";
import type { Probe } from "../programs/probe.ts";
import { heldPath } from "../target/held_path.ts";
import { hasBegun } from "../target/launch.ts";
import { hasEnded } from "../target/process.ts";
import { probeOf } from "../timeline/dispatch.ts";
import { Attachments, type AttachOptions, type AttachRun } from "./attachments.ts";
import { Candidates } from "./candidates.ts";
import { Looks } from "./looks.ts";
import { sideLook } from "./side_look.ts";
import { continuedEarly } from "./standing.ts";
import type { Means } from "./means.ts";
import { Members } from "./members.ts";
import type { Progress } from "./progress.ts";
import type { RunningTarget, Target } from "./target.ts";
import { targetEnded } from "./target_ended.ts";
import type { Turn, Turns } from "./turns.ts";
import { isUnwinder } from "./unwinding.ts";

export interface LifeOptions extends AttachOptions {
  /** Waits for a running target's next life when it has ended; null when nobody waits any more. Absent: the run ends with its target. */
  readonly again?: () => Promise<RunningTarget | null>;
  readonly turns?: Turns;
  /** Children belong to the target. */
  readonly tree: boolean;
  readonly probes: readonly Probe[];
  readonly progress: (progress: Progress) => void;
  /** Every event of the target, as soon as it is read. */
  readonly heard?: (event: Event) => void;
}

/** The run that a life is a part of. */
export interface Run extends AttachRun {
  /** The target is known and its first programs are attached: from now on everything counts. */
  counts(life: Life): void;
}

/** A look at the target takes a child process: the first comes soon, the others ever more rarely. */
const FIRST_LOOK_MS = 500, LONGEST_LOOK_MS = 8000;
/** A thread tells of its exit before it is done, and when counting ends is where what it did last ends. */
const EXITING_MS = 2;

/** Another program, or another process. */
function isBeginning({ record, values }: Event): boolean {
  return record === "process/life.exec" || (record === "process/life.task" && values[1] === 0);
}

/** One life of a target, from attaching to it until it ends. */
export class Life {
  readonly members: Members;
  readonly attachments: Attachments;
  readonly #looks: Looks;
  /** Whether it stops for copies of libraries as soon as it begins another process: not where it is looked at for a moment, and by whom stops nobody. */
  #mayBeGated: boolean;
  /** Where the next inference process is waited for. */
  #candidates: Candidates | undefined;
  #counts = false;
  /** A program that we started was let go. */
  #released = false;
  /** Nothing is attached any more. */
  #left = false;
  /** The root's main thread has ended. */
  #headless = false;
  /** The root may have ended. */
  #exited = Promise.withResolvers<void>();
  /** Of a program that we started. */
  #end: ChildEnd | null = null;

  /** `turn`: it is left when that is over. */
  constructor(readonly means: Means, readonly target: Target, readonly options: LifeOptions, readonly run: Run, readonly turn?: Turn) {
    this.members = new Members(means, target, options.tree);
    this.#mayBeGated = target.type === "running" && options.tree && options.guard !== noGuard && (!turn || turn.lasts === true);
    const probes = turn?.probes ?? options.probes;
    this.attachments = new Attachments(means, this.members, probes, options, run, (event) => this.#heard(event));
    this.#looks = new Looks(means, probes, (fact) => run.fact(fact), (look) => run.gatekeeper.look(look));
  }

  /**
   * Attaches, lets a program that we started go, and resolves when the target has ended (`true`), or its turn is over or `stop` resolves. Throws when
   * something cannot be attached (unless it is one of many, and was over before everything was), and what `failed` throws.
   */
  async live(stop: Promise<unknown>, failed: Promise<never>, isOneOfMany: boolean): Promise<boolean> {
    const { target } = this;
    const { guard, progress } = this.options;
    await Promise.race([isOneOfMany ? this.#attach().catch((error) => this.#unlessGone(this.members.root!.pid, error)) : this.#attach(), stop]);
    if (target.type === "launched" && this.#counts) {
      // Who stands at a gate by then is let go by its keeper.
      if (await hasBegun(this.means.files, target.pid)) this.run.fact(continuedEarly(target.pid));
      else target.child.kill("SIGCONT");
      guard.released(target.pid);
      this.#released = true;
    }
    const over = [stop, ...(this.turn ? [this.turn.over()] : [])];
    const isOver = await Promise.race([...over.map((end) => end.then(() => false)), this.#ended().then(() => true), failed]);
    // When the waiting ends, who may have been the one is better than nobody.
    const candidate = await this.#candidates?.present();
    if (candidate !== undefined) {
      this.run.gatekeeper.meanwhile(() => this.#elect(candidate));
      await this.run.gatekeeper.served();
    }
    if (this.#released) progress({ state: "left", pid: this.members.root!.pid, end: this.#end });
    return isOver;
  }

  /** Nothing is attached to it any more, and whoever comes to the gate goes on at once. */
  leave(): void {
    this.#left = true;
    this.#looks.leave();
    this.attachments.leave();
  }

  /** A program that never began does not begin now. */
  abandon(): void {
    if (this.target.type === "launched" && !this.#released) this.target.child.kill("SIGKILL");
  }

  /** Somebody has stood at a gate `since` then. Returns whether each process that runs the same program has to. */
  async atGate(event: Event, since: number): Promise<boolean> {
    if (this.#left) return false;
    return await this.#orPassed(event.pid, this.#atGate(event, since)) ?? false;
  }

  /** To what running processes have mapped by now: nobody stands who would wait for it at a gate. */
  attachMore(): Promise<void> {
    return this.attachments.again();
  }

  async #atGate(event: Event, since: number): Promise<boolean> {
    if (this.target.type !== "next") this.members.add(event.pid);
    // Until somebody is the target anybody may be.
    else if (this.members.root && !(await this.members.now()).includes(event.pid)) return false;
    const isCall = probeOf(event.record) === "gate/call";
    if (!isCall && isUnwinder(String(event.values[2]))) {
      // Of whoever has mapped what is attached to already.
      await this.run.unwinding.cover(new FilesOnce(this.means.files), [event.pid]);
      return false;
    }
    let each = false;
    if (isCall) await this.attachments.libraries.atCall(event.pid);
    else {
      const found = await this.attachments.libraries.atMapping(event.pid, event.values[1] as number);
      each = found.each;
      // A program without the library: of most that a shell starts.
      if (found.fresh === 0) return each;
    }
    const what = isCall ? "call reached" : "library mapped";
    this.options.progress({ state: "gate", pid: event.pid, what, milliseconds: this.means.monotonic() - since });
    return each;
  }

  async #attach(): Promise<void> {
    const { target } = this;
    const { progress, again } = this.options;
    progress({ state: "attaching", ...(target.type === "running" && { to: target }) });
    if (target.type === "next") return this.#await();
    // Where another comes after it, its end is waited for, so as not to miss that one.
    if (target.type === "running") await this.attachments.toRunning(target.pid, again !== undefined);
    else await this.attachments.toStarting(false, target.program);
    if (target.type === "running") {
      if (!(await this.members.has(target.pid))) throw targetEnded(target.pid);
      await this.#looks.present(() => this.members.now());
    }
    this.#count();
    if (target.type === "running") this.run.gatekeeper.meanwhile(() => this.attachMore());
  }

  /** Whoever starts next and shows that it is an inference process. */
  async #await(): Promise<void> {
    const { gatekeeper } = this.run;
    const { probes, progress } = this.options;
    const candidates = this.#candidates = new Candidates({
      probes,
      sleep: this.means.sleep,
      // One after another with whatever is being attached: windows are opened of what is ready.
      elect: (pid) => gatekeeper.meanwhile(() => this.#elect(pid)),
      mapped: (pid) => this.#lookInto(pid),
      passed: (pid) => progress({ state: "passed", pid }),
      isThere: async (pid) => !(await sideLook(hasEnded(this.means.files, pid), false)),
      heldPath: (pid, file) => sideLook(heldPath(this.means.files, pid, file), null),
    });
    this.attachments.whileWaiting = (event) => candidates.event(event);
    await this.attachments.toStarting(true);
    progress({ state: "waiting" });
  }

  #heard(event: Event): void {
    this.options.heard?.(event);
    const { record, pid, tid } = event;
    this.#looks.heard(event);
    if (this.#mayBeGated && isBeginning(event)) {
      this.#mayBeGated = false;
      this.run.gatekeeper.meanwhile(() => this.attachments.begunAnother());
    }
    // Who waits for the next process hears everybody.
    if (this.target.type !== "next") {
      // It may be no descendant of the others: exec'ed into a container, or left behind by its parent.
      if (record === "process/life.exec") this.members.add(pid);
      if (record === "process/life.exit" && pid === tid) this.members.delete(pid);
    }
    if (pid !== this.members.root?.pid) return;
    // The other threads may go on, or one of them may take its place by an exec. Events come as they are read, in no order among processors: each end
    // behind the main thread's is a reason to look.
    if (record === "process/life.exec") this.#headless = false;
    if (record === "process/life.exit" && (this.#headless ||= pid === tid)) this.#exited.resolve();
  }

  /** The first process that shows itself is the target, with the tree that it belongs to. */
  async #elect(pid: number): Promise<void> {
    if (this.members.root) return;
    await this.members.elect(pid);
    this.#count();
    this.#lookInto(pid);
  }

  /** A program that the library is linked into never comes to the gate. */
  #lookInto(pid: number): void {
    this.run.gatekeeper.meanwhile(async () => void await this.#orPassed(pid, this.attachments.libraries.atMapping(pid)));
  }

  /** Whoever cannot be looked into is no failure of the run as long as another is waited for. */
  async #orPassed<Done>(pid: number, work: Promise<Done>): Promise<Done | undefined> {
    return await work.catch((error) => {
      if (this.target.type !== "next" || this.members.root || !(error instanceof LlmprofError)) throw error;
      this.options.progress({ state: "passed", pid, why: error.what });
      return undefined;
    });
  }

  #count(): void {
    // Somebody ended the run while it began.
    if (this.#left) return;
    this.run.counts(this);
    this.#counts = true;
  }

  async #unlessGone(pid: number, error: unknown): Promise<void> {
    if (!(await hasEnded(this.means.files, pid))) throw error;
  }

  async #ended(): Promise<void> {
    const { target } = this;
    if (target.type === "launched") {
      this.#end = await target.child.status;
      this.run.fact({ fact: "exit", pid: target.pid, code: this.#end.code, signal: this.#end.signal });
      return;
    }
    // Its exit is seen at once where tracepoints tell; a look finds it where it ended before they were attached.
    let exit = new Ending(this.#exited.promise);
    for (let look = FIRST_LOOK_MS; !this.#left;) {
      await exit.or(this.means.sleep(look));
      const told = exit.isHere;
      if (told) exit = new Ending((this.#exited = Promise.withResolvers()).promise);
      if (this.members.root && await sideLook(hasEnded(this.means.files, this.members.root.pid), false)) return;
      look = told ? EXITING_MS : Math.min(2 * look, LONGEST_LOOK_MS);
    }
  }
}
