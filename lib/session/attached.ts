import { ExitCode, LlmprofError } from "../events/errors.ts";
import type { Event } from "../events/event.ts";
import type { Ns } from "../events/time.ts";
import { type Child, untimely } from "../machine/child.ts";
import { HEARTBEAT_MS } from "../programs/prologue.ts";
import type { Program } from "../programs/render.ts";
import type { Pseudonyms } from "../timeline/pseudonyms.ts";
import { redacted, Redaction } from "../timeline/redaction.ts";
import type { StreamWriter } from "../timeline/recording.ts";
import type { Timeline } from "../timeline/timeline.ts";
import type { ClockReading } from "../tracing/clock_line.ts";
import { pauseReader } from "../tracing/paused_reader.ts";
import { Reading } from "../tracing/reading.ts";
import { type ProgramEnd, RunningProgram } from "../tracing/running_program.ts";
import type { HostClock } from "./clock.ts";
import type { Means } from "./means.ts";
import { patience, patienceWith } from "./patience.ts";
import { Tap } from "./tap.ts";

/** Twenty of these are what 0.17 takes for a library of half a million symbols. */
const ATTACH_TIMEOUT_MS = 60_000;
/** A bpftrace that has said nothing for so long, not even a heartbeat, will say nothing more. */
const SILENCE_MS = 3000;
/** Longer than a clock goes wrong between two heartbeats, and shorter than a machine sleeps. */
const SLEPT_NS = 1e9;

/** A program of the run: its bpftrace, where its bytes go, and what has been seen of it. */
export class Attached {
  readonly tap: Tap;
  readonly running: RunningProgram;
  /** Whoever has to act on an event at once. */
  onEvent: ((event: Event) => void) | undefined;
  /** bpftrace has reported that its buffer had no room for so many. */
  onLost: ((count: number) => void) | undefined;
  /** The machine was suspended for so long. */
  onSlept: ((ns: Ns) => void) | undefined;
  /** Hits that the kernel had skipped when its window was opened, or a moment later: of whatever ran since it was loaded. Absent: it never was opened. */
  skippedBefore: Promise<number> | undefined;
  /** How long after the kernel told it the latest heartbeat came; with a buffer for each processor, of which one may be silent, nobody knows. */
  late: Ns = 0;
  readonly #reading = new Reading();
  /** When the kernel had been asked to close the window, by its clock. */
  #closing: Ns = NaN;
  #closedAt: Ns = NaN;
  /** Nothing older follows. */
  #readUntil: Ns = NaN;
  /** Something was counted at all: the kernel's count is printed from then on. */
  #counts = false;
  /** The kernel's count has been read behind the end: it is the last. */
  #counted = false;
  #sweptUntil: Ns = NaN;
  #opened = false;
  #rhythm: { readonly abort: AbortController; readonly done: Promise<void> } | undefined;
  #resumedBehind: Ns = 0;
  #clock: HostClock | undefined;
  readonly #drained = Promise.withResolvers<true>();

  /** `prompt`: somebody acts on its events. */
  constructor(readonly program: Program, readonly prompt: boolean, child: Child, now: () => number) {
    this.tap = new Tap(now);
    this.running = new RunningProgram(program, child, (bytes) => this.tap.write(bytes));
  }

  get stream(): string {
    return this.program.schema.stream;
  }

  /** See `Reader` in starvation.ts; 0 of one that never stands still, or does now. */
  get fellBehind(): Ns {
    return this.#rhythm && !this.running.isPaused ? this.#behind() - this.#resumedBehind : 0;
  }

  get #hasCounted(): boolean {
    return this.#opened && this.tap.connected;
  }

  /** Waits until every probe is attached; `died` hears of its end behind that. Throws when it cannot be attached: then nothing of it is left. */
  async ready(means: Pick<Means, "sleep" | "files">, died: (error: LlmprofError) => void): Promise<ClockReading> {
    const { running, stream, tap } = this;
    let isOver = false;
    const timeout = patienceWith(running.pid, means, ATTACH_TIMEOUT_MS, () => isOver).then(() => {
      throw new LlmprofError(
        ExitCode.failed,
        `bpftrace did not attach the program '${stream}' within ${ATTACH_TIMEOUT_MS / 1000} s.`,
        "This machine may be too busy, or bpftrace hangs.",
        "Try again, and if it stays so run: llmprof doctor",
      );
    });
    const reading = await Promise.race([running.ready, timeout]).catch((error) => {
      running.kill();
      tap.close();
      throw error;
    }).finally(() => isOver = true);
    void running.ended.then((end) => {
      tap.close();
      died(diedEarly(stream, end));
    });
    return reading;
  }

  /** `from`: nothing on this stream is older. Its heartbeats keep `clock` right. Returns how many events were read and not kept while llmprof waited. */
  connect(timeline: Timeline, writer: StreamWriter | null, clock: HostClock, from?: Ns, pseudonyms?: Pseudonyms): number {
    this.#clock = clock;
    const input = timeline.add(this.program.schema, from, {
      event: (event) => {
        this.#counts = true;
        this.#reading.saw(event.at);
        this.onEvent?.(event);
      },
      beat: (at) => {
        const slept = clock.notBefore(at);
        if (slept > SLEPT_NS) this.onSlept?.(slept);
        if (this.program.schema.buffers === undefined) this.late = Math.max(this.late, clock.now() - at);
        this.#reading.beat(at);
        this.#readUntil = at - this.program.schema.disorderNs;
        // Told long ago and not seen in what was read since: a full buffer had no room for that record.
        if (this.#readUntil > this.#closing + 2 * HEARTBEAT_MS * 1e6 && Number.isNaN(this.#closedAt)) {
          this.running.closeWindow();
          this.#closing = clock.now();
        }
        this.#lookDrained();
      },
      lost: (count) => this.onLost?.(count),
      emitted: () => {
        this.#counts = true;
        this.#counted = this.#readUntil > this.#closedAt;
        this.#lookDrained();
      },
      swept: (at) => {
        this.#sweptUntil = at;
        this.#lookDrained();
      },
      window: (at, open) => {
        if (!open && Number.isNaN(this.#closedAt)) this.#closedAt = at;
      },
    });
    if (!pseudonyms) return this.tap.connect(input, writer);
    return this.tap.connect(redacted(new Redaction(this.program.schema, pseudonyms, timeline.options.find), input, writer), null);
  }

  /** The count from behind the end (where nothing was ever counted, the time in which it would have come), and every map that was written before the end. */
  #lookDrained(): void {
    const nothing = !this.#counts && this.#readUntil - this.#closedAt > 2 * HEARTBEAT_MS * 1e6;
    if ((this.#counted || nothing) && (!this.program.schema.rows || this.#sweptUntil > this.#closedAt)) {
      this.#drained.resolve(true);
    }
  }

  /** From now on its probes count. */
  openWindow(): void {
    if (this.#opened) return;
    this.#opened = true;
    this.running.openWindow();
  }

  /** Keeps the reader stopped for most of the time: see {@link pauseReader}. */
  startRhythm(means: Means, clock: HostClock, bufferBytes: number, due: () => Ns): void {
    const abort = new AbortController();
    const reader = {
      pause: () => this.running.pause(),
      resume: () => {
        this.#resumedBehind = this.#behind();
        this.running.resume();
      },
      delivered: () => this.tap.delivered,
      lastBeat: () => this.#reading.lastBeat,
      reached: (at: Ns) => this.#reading.reached(at),
    };
    const done = pauseReader(reader, { now: () => clock.now(), sleep: means.sleep, bufferBytes, beatMs: HEARTBEAT_MS, due }, abort.signal);
    this.#rhythm = { abort, done };
  }

  /** How long ago the kernel wrote what was read last. */
  #behind(): Ns {
    return this.#clock!.now() - this.#reading.latest;
  }

  /** From now on its probes count no more. */
  closeWindow(): void {
    if (this.#hasCounted) this.running.closeWindow();
  }

  /**
   * After its window was closed: waits until everything that was counted has been read, and says whether it was; gives up when bpftrace says nothing
   * any more.
   */
  async drain(sleep: Means["sleep"]): Promise<boolean> {
    // Nobody waits for what it says; but whom a gate has stopped last it may not have told.
    if (!this.#hasCounted) return !(this.#opened && this.program.unsafe);
    this.#closing = this.#clock!.now();
    this.#rhythm?.abort.abort();
    // The last drain is never paused, whoever stopped the reader.
    await this.#rhythm?.done;
    this.running.resume();
    const ended = Promise.race([this.#drained.promise, this.running.ended.then(() => false)]);
    for (let seen = -1; seen !== this.tap.delivered;) {
      seen = this.tap.delivered;
      const read = await Promise.race([ended, patience(sleep, SILENCE_MS).then(() => undefined)]);
      if (read !== undefined) return read;
    }
    return false;
  }
}

function diedEarly(stream: string, end: ProgramEnd): LlmprofError {
  const why = end.said && end.signal !== "SIGKILL" ? `It said: ${end.said}` : untimely(end);
  const what = `bpftrace ended while it traced ('${stream}').`;
  return new LlmprofError(ExitCode.failed, what, why, "What was seen until then has been written. Run the command again.");
}
