import type { Event } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import type { SpanSink } from "../events/span.ts";
import { counted } from "../events/text.ts";
import { type Ns, splitBase } from "../events/time.ts";
import type { Probe } from "../programs/probe.ts";
import { type Header, treeIn } from "../timeline/header.ts";
import { hasEnded } from "../target/process.ts";
import { hostSchema } from "../timeline/host.ts";
import type { Pseudonyms } from "../timeline/pseudonyms.ts";
import type { Recorder } from "../timeline/recording.ts";
import { Timeline } from "../timeline/timeline.ts";
import type { HostClock } from "./clock.ts";
import { Gatekeeper } from "./gatekeeper.ts";
import { HostStream } from "./host_stream.ts";
import { Life, type LifeOptions } from "./life.ts";
import type { Means } from "./means.ts";
import { uncounted } from "./own_cost.ts";
import { Programs } from "./programs.ts";
import { sideLook } from "./side_look.ts";
import type { Spares } from "./spares.ts";
import type { RunningTarget, Target } from "./target.ts";
import type { Turn, Turns } from "./turns.ts";
import { Unwinding } from "./unwinding.ts";

export interface SessionOptions extends LifeOptions {
  readonly target: Target;
  readonly bufferPages: number;
  /** Some that were started before, for such a buffer. */
  readonly spares?: Spares;
  /** When something may have happened that the run's owner waits for. */
  readonly due?: () => Ns;
  readonly find: (probe: string) => Probe | undefined;
  /** Everything of the header but what the session finds out. */
  readonly header: Omit<Header, "clock" | "target" | "root">;
  /** Called once, when the target and the clock are known: opens the outputs. `flush` is called several times a second: see HostStream. */
  readonly open: (header: Header) => { readonly out: SpanSink; readonly flush: () => void; readonly recording: Recorder | null };
  readonly onFact: (fact: Fact) => void;
  /** What takes the place of arguments and paths, in the recording too. */
  readonly pseudonyms?: Pseudonyms;
  /** Called when windows have opened, and before they are shut: what is told at both is of the time between. */
  readonly atWindow?: () => Promise<void>;
  /** Called when everything that was counted has been read: what is to be told at the end of the recording. */
  readonly conclude?: () => Promise<readonly Fact[]>;
}

/** Between looks at a target that is left alone, in which it may end. */
const LOOK_MS = 1000;

/** One run over a target that may come, fork and go: what its lives have in common, and one trace. */
export class Session {
  readonly #programs: Programs;
  readonly #gatekeeper: Gatekeeper;
  readonly #unwinding: Unwinding;
  /** The present one, or while another is waited for, the last. */
  #life: Life;
  readonly #failed = Promise.withResolvers<never>();
  readonly #counting = Promise.withResolvers<void>();
  #timeline: Timeline | undefined;
  #host: HostStream | undefined;
  readonly #streams = new Set<string>();
  /** The run is to end, whatever its target does. */
  #stopped = false;

  constructor(readonly means: Means, readonly options: SessionOptions) {
    this.#failed.promise.catch(() => {});
    const fail = (error: unknown) => this.#failed.reject(error), fact = (fact: Fact) => this.#fact(fact);
    this.#programs = new Programs(means, options.bufferPages, fail, fact, options);
    const atGate = (event: Event, since: number) => this.#life.atGate(event, since), late = () => this.#life.attachMore();
    this.#gatekeeper = new Gatekeeper(means, options.guard, atGate, late, fact, fail);
    const isTargets = async (pid: number) => this.pid === undefined ? undefined : (await this.members()).includes(pid);
    this.#unwinding = new Unwinding(means, this.#programs.dialect, options.guard, fail, isTargets);
    this.#life = this.#lifeOf(options.target, options.turns?.next());
  }

  /** There is none when the run ended while it waited for a target. */
  get timeline(): Timeline | undefined {
    return this.#timeline;
  }

  /** Resolves when the first window has opened and, for a program that we start, it has been let go. */
  get counting(): Promise<void> {
    return this.#counting.promise;
  }

  /** There is one when it counts. */
  get clock(): HostClock | undefined {
    return this.#programs.clock;
  }

  /** See {@link Gatekeeper.lasts}. */
  lasts(milliseconds: number): Promise<void> {
    return this.#gatekeeper.lasts(milliseconds);
  }

  /** Tells the trace, and the recording, what somebody found out beside the run. */
  tell(fact: Fact): void {
    this.#fact(fact);
  }

  /** Libraries whose probes were attached, by stream. */
  get attachedStreams(): ReadonlySet<string> {
    return this.#streams;
  }

  /** The first process of the target in its present or last life; undefined while one is waited for that nobody has named. */
  get pid(): number | undefined {
    return this.#life.members.root?.pid;
  }

  /** See {@link Members.tops}. */
  get tops(): Iterable<number> {
    return this.#life.members.tops;
  }

  /** See {@link LibraryAttacher.watched}. */
  get watched(): ReadonlyMap<string, string> {
    return this.#life.attachments.libraries.watched;
  }

  /** The processes that trace it, now: llmprof and its bpftraces. */
  get tracers(): readonly number[] {
    return [this.means.self, ...this.#programs.pids];
  }

  /** The target's processes, now. */
  members(): Promise<readonly number[]> {
    return this.#life.members.now();
  }

  /**
   * Runs until the target ends (for good, where it may come again) or `stop` resolves, then drains and closes the timeline. Throws when a program
   * cannot be attached or dies; what was seen until then has been written.
   */
  async run(stop: Promise<unknown>): Promise<void> {
    const { again, turns, progress } = this.options;
    void stop.then(() => this.#stopped = true, () => {});
    try {
      const isOver = await this.#life.live(stop, this.#failed.promise, again !== undefined);
      if (turns && !isOver) await this.#takeTurns(turns, stop);
      else if (again) await this.#liveAgain(again, stop);
    } finally {
      this.#life.leave();
      progress({ state: "draining" });
      // A program that never began does not begin now.
      await this.#gatekeeper.served();
      this.#life.abandon();
      await this.#close();
    }
    if (this.#gatekeeper.failure) throw this.#gatekeeper.failure;
  }

  /** Until {@link ended} resolves a process may be stopped. */
  get mayStop(): boolean {
    return this.#unwinding.stopsThrowers;
  }

  /** bpftrace detaches slowly, and nothing is left to learn from it: resolves when no process of the run is left. */
  async ended(): Promise<void> {
    await this.#programs.ended();
    // While anything is still being detached, exceptions have to get through it.
    await this.#unwinding.end();
  }

  #lifeOf(target: Target, turn?: Turn): Life {
    this.#programs.gather();
    if (turn?.note !== undefined) {
      this.#fact({ fact: "note", text: turn.note });
      this.options.progress({ state: "turn", why: turn.note, lasts: turn.lasts === true });
    }
    return new Life(this.means, target, this.options, {
      programs: this.#programs,
      gatekeeper: this.#gatekeeper,
      unwinding: this.#unwinding,
      counts: (life) => this.#counts(life),
      attached: (stream) => {
        this.#streams.add(stream);
        this.#flushFacts();
      },
      fact: (fact) => this.#fact(fact),
    }, turn);
  }

  /** One life after another, each with programs of its own in the same trace, until `stop` resolves or nobody waits for another. */
  async #liveAgain(again: () => Promise<RunningTarget | null>, stop: Promise<unknown>): Promise<void> {
    while (!this.#stopped) {
      const pid = this.pid!;
      await this.#endLife(pid);
      this.options.progress({ state: "again", pid });
      const target = await Promise.race([again(), stop.then(() => null)]);
      if (!target) return;
      this.#fact({ fact: "note", text: `process ${pid} ended and process ${target.pid} came after it` });
      this.#life = this.#lifeOf(target);
      await this.#life.live(stop, this.#failed.promise, true);
    }
  }

  /** One turn after another until the target has ended or `stop` resolves. */
  async #takeTurns({ next, target }: Turns, stop: Promise<unknown>): Promise<void> {
    let isOver = false;
    while (!this.#stopped && !isOver) {
      const pid = this.pid!;
      const { rest } = this.#life.turn!;
      await this.#endLife(pid);
      if (rest) await Promise.race([this.#leaveAlone(rest), stop]);
      const now = this.#stopped ? null : await target();
      if (!now || this.#stopped) return;
      this.#life = this.#lifeOf(now, next());
      isOver = await this.#life.live(stop, this.#failed.promise, true);
    }
  }

  /** Until the next turn, or the target's end. Nobody rests while something is still being detached, which takes bpftrace 0.17 some seconds. */
  async #leaveAlone(rest: () => Promise<unknown>): Promise<void> {
    await this.ended();
    if (this.#stopped) return;
    const pid = this.pid!;
    this.options.progress({ state: "resting", pid });
    const { sleep, files } = this.means;
    let isOver = false;
    const resting = rest().then(() => isOver = true);
    while (!isOver && !this.#stopped) {
      await Promise.race([resting, sleep(LOOK_MS)]);
      if (!isOver && await sideLook(hasEnded(files, pid), false)) return;
    }
  }

  /** Or the turn of a life. What its programs counted until its end comes before it is told. */
  async #endLife(pid: number): Promise<void> {
    await this.options.atWindow?.();
    this.#life.leave();
    await this.#gatekeeper.served();
    await this.#endPrograms();
    this.#fact({ fact: "ended", pid });
  }

  /** The first life that counts opens the outputs; what was kept until then flows. */
  #counts(life: Life): void {
    if (!this.#timeline) this.#open(life);
    // What was read until now, names of operators among it, is known before the first event.
    this.#flushFacts();
    this.#programs.openWindows();
    this.#flushFacts();
    void this.options.atWindow?.();
    this.options.progress({ state: "counting", pid: life.members.root!.pid, sites: this.#programs.sites, learns: life.turn?.learns === true });
    this.#counting.resolve();
  }

  #open({ target, members: { root } }: Life): void {
    const { open, header, find, onFact, pseudonyms } = this.options;
    const { name, base, realtimeOffset } = this.#programs.clock!;
    const { pid, argv, tree = [] } = root!;
    const full: Header = {
      ...header,
      clock: { name, base, realtimeOffset },
      target: { pid, argv, started: target.type === "launched" },
      ...(target.type === "next" && { root: pid, tree }),
    };
    const { out, flush, recording } = open(pseudonyms?.header(full) ?? full);
    this.#timeline = new Timeline({ base: splitBase(base), find, out, onFact, ...treeIn(full) });
    this.#host = new HostStream(this.#programs.clock!, this.#timeline, recording?.stream(hostSchema) ?? null, flush, pseudonyms);
    this.#programs.connect(this.#timeline, recording, pseudonyms);
  }

  #fact(fact: Fact): void {
    this.#programs.facts.push(fact);
    this.#flushFacts();
  }

  #flushFacts(): void {
    if (this.#host) { for (const fact of this.#programs.facts.splice(0)) this.#host.fact(fact); }
  }

  async #endPrograms(): Promise<void> {
    const idle = () => this.#gatekeeper.idle();
    const ended = await this.#programs.end(idle);
    if (ended.some(({ program, read }) => program.unsafe && !read)) this.options.guard.unheard();
    this.#flushFacts();
    for (const { tap } of ended) tap.close();
    // What was read too late of one that hung is no affair of a next life.
    await idle();
  }

  async #tellThrown(): Promise<void> {
    await this.#unwinding.counted();
    const { stops, othersStops, uncovered } = this.#unwinding;
    for (const pid of uncovered) {
      const text = `process ${pid} has no libgcc_s.so that was found: an exception that leaves functions that are watched is its end`;
      this.#fact({ fact: "note", text });
    }
    const left = "exceptions left functions that are watched";
    const stood = (who: string, count: number) => `${left}: for them ${who} stood ${counted(count, "time")} for a moment`;
    if (stops > 0) this.#fact({ fact: "note", text: `${stood("the target", stops)}, and these calls are not told` });
    if (othersStops > 0) this.#fact({ fact: "note", text: stood("others that run the same files, and do not count,", othersStops) });
  }

  async #close(): Promise<void> {
    this.#programs.close();
    await this.#endPrograms();
    await this.#tellThrown();
    for (const text of uncounted(this.means.machine.kernel)) this.#fact({ fact: "note", text });
    if (this.#timeline) { for (const fact of await this.options.conclude?.() ?? []) this.#fact(fact); }
    this.#host?.close();
    this.#timeline?.finish();
  }
}
