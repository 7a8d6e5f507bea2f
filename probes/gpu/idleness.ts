import type { SpanSink, Track } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Done } from "./call.ts";
import type { Place } from "./devices.ts";
import { type Asked, GivenWork, type Work } from "./given_work.ts";
import { hex } from "./said.ts";
import type { Kind } from "./signatures.ts";
import { isWork, type Stream, streamOf } from "./streams.ts";

/** Kinds of calls that are looked at here. */
export function isOfIdleness(kind: Kind): boolean {
  return kind === "sync" || kind === "poll" || kind === "event" || kind === "stream" || isWork(kind);
}

/** CU_STREAM_NON_BLOCKING */
const NON_BLOCKING = 1;

interface Process {
  readonly given: GivenWork;
  /** When an event was recorded last, and behind what. */
  readonly events: Map<number, { readonly began: Ns; readonly behind: ReadonlySet<Work> }>;
  /** Level Zero's lists of commands that do nothing before they are executed. */
  readonly lists: Set<Stream>;
  /** Since when its GPU has had nothing to do. */
  idle: Ns | null;
}

/**
 * Times in which a process's GPU had nothing to do because its CPU had given it nothing: from a wait for all that it had been given, to the next that it is
 * given. What other processes give it is not seen. A wait is for what was given before it began: what another thread gave meanwhile may still go on.
 */
export class Idleness {
  readonly #processes = new Map<number, Process>();

  constructor(readonly tracks: Tracks) {}

  call(done: Done, out: SpanSink): void {
    const { signature: { kind, name }, gpu: { result, isCaptured, isWaited, direction }, pid, place, began, at } = done;
    // Whoever asks whether it is done, or waits for some time, has waited when it is.
    if ((kind === "poll" || kind === "sync") && result !== 0) return;
    if (isCaptured || (kind === "event" && done.event === undefined)) return;
    let process = this.#processes.get(pid);
    if (!process) this.#processes.set(pid, process = { given: new GivenWork(), events: new Map(), lists: new Set(), idle: null });
    const { given } = process, stream = streamOf(done), asked = { stream, place, began, at };
    given.from(place);
    if (kind === "stream") return this.#changed(process, done, stream, out);
    if (process.lists.has(stream)) return;
    if (kind === "event") return ofEvent(process, asked, name, done.event!);
    if (kind === "sync" || kind === "poll") return waited(process, done, stream);
    if (process.idle !== null && began > process.idle) {
      out({ type: "slice", track: this.#track(pid), name: "no work", category: "gpu.gap", start: process.idle, end: began, args: { next: name } });
    }
    process.idle = null;
    if (!isWaited) {
      if (isStreamKnown(done)) given.give(asked, isOfThisGpu(done));
      return;
    }
    // What comes to the host comes behind all that its stream had been given.
    if (direction === "device to host") given.done(given.before(asked));
    if (given.isNone) process.idle = at;
  }

  /** What was given to a place that is no more is done. */
  leaves(pid: number, place: Place): void {
    this.#processes.get(pid)?.given.leaves(place);
  }

  forget(pid: number): void {
    this.#processes.delete(pid);
  }

  end(): void {
    this.#processes.clear();
  }

  #changed({ given, lists }: Process, { signature: { name }, flags = 0, pid, place, at }: Done, stream: Stream, out: SpanSink): void {
    if (name.startsWith("zeCommandList")) return void (name.endsWith("Create") ? lists.add(stream) : lists.delete(stream));
    if (name.includes("Create")) given.made(stream, place, (flags & NON_BLOCKING) === 0);
    if (!name.endsWith("Destroy") || !given.destroyed(stream)) return;
    const args = { stream: hex(Number(stream)) };
    out({ type: "instant", track: this.#track(pid), name: "a stream was destroyed at work", category: "gpu.abandoned", at, args });
  }

  #track(pid: number): Track {
    return this.tracks.lane(pid, "GPU without work", 6);
  }
}

function ofEvent({ given, events }: Process, asked: Asked, name: string, event: number): void {
  if (name.includes("Record")) events.set(event, { began: asked.began, behind: given.before(asked) });
  else if (name.includes("Destroy")) events.delete(event);
  else if (name.includes("WaitEvent")) given.waits(asked, behindEvent(events, event, asked.began) ?? []);
}

/** What came before an event; undefined where nobody knows what it stood for then. */
function behindEvent(events: Process["events"], event: number | undefined, when: Ns): ReadonlySet<Work> | undefined {
  const recorded = event === undefined ? undefined : events.get(event);
  return recorded && recorded.began <= when ? recorded.behind : undefined;
}

function waited(process: Process, { signature: { name }, place, event, began, at }: Done, stream: Stream): void {
  const { given, events } = process;
  if (name.includes("Event")) {
    const behind = behindEvent(events, event, began);
    if (!behind) return;
    given.done(behind);
  } else if (/Fence|Semaphore|^zeDevice/.test(name)) return;
  else if (/Stream|Queue|CommandList/.test(name)) given.waitedFor(stream, began);
  else given.waitedIn(place, began);
  // One wait more changes nothing; one that was made within this one, by the runtime's call, ends before it.
  if (given.isNone && (process.idle === null || began <= process.idle)) process.idle = at;
}

/** Of what goes on behind its call it may not be: CUDA's versions have the stream in different places. Nobody could be seen to wait for it. */
function isStreamKnown({ signature: { name }, gpu: { stream } }: Done): boolean {
  return stream !== undefined || !name.endsWith("Async");
}

/** CUDA's runtime launches a kernel on the thread's GPU, and fails where the stream is on another one. The driver may go where the stream is. */
function isOfThisGpu({ signature: { kind }, gpu: { family } }: Done): boolean {
  return kind === "launch" && family === "cudart";
}
