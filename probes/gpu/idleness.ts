import type { SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Done } from "./call.ts";
import { isSame, type Place } from "./devices.ts";
import type { Kind } from "./signatures.ts";
import { isWork, type Stream, streamOf } from "./streams.ts";

/** Kinds of calls that are looked at here. */
export function isOfIdleness(kind: Kind): boolean {
  return kind === "sync" || kind === "poll" || kind === "event" || isWork(kind);
}

/** What a stream was given last. */
interface Given {
  readonly place: Place;
  readonly at: Ns;
}

interface Process {
  /** Streams that were given something to do and not waited for since. */
  readonly busy: Map<Stream, Given>;
  /** Which stream an event was last recorded in, and when that call began. */
  readonly events: Map<number, { readonly stream: Stream; readonly began: Ns }>;
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
    const { signature: { kind, name }, gpu: { result, isCaptured, isWaited, direction }, pid, began, at } = done;
    // Whoever asks whether it is done has waited when it is.
    if (kind === "poll" && result !== 0) return;
    if (isCaptured || (kind === "event" && done.event === undefined)) return;
    let process = this.#processes.get(pid);
    if (!process) this.#processes.set(pid, process = { busy: new Map(), events: new Map(), idle: null });
    const { busy, events } = process, stream = streamOf(done);
    if (kind === "event") {
      if (name.includes("Record")) events.set(done.event!, { stream, began });
      else if (name.includes("Destroy")) events.delete(done.event!);
      return;
    }
    if (kind === "sync" || kind === "poll") return this.#waited(process, done, stream);
    if (process.idle !== null && began > process.idle) {
      const track = this.tracks.lane(pid, "GPU without work", 6);
      out({ type: "slice", track, name: "no work", category: "gpu.gap", start: process.idle, end: began, args: { next: name } });
    }
    process.idle = null;
    if (!isWaited) {
      if (isStreamKnown(done)) busy.set(stream, { place: done.place, at });
      return;
    }
    // What comes to the host comes behind all that its stream had been given.
    if (direction === "device to host") passUntil(busy, stream, began);
    if (busy.size === 0) process.idle = at;
  }

  /** What was given to a place that is no more is done. */
  leaves(pid: number, place: Place): void {
    const busy = this.#processes.get(pid)?.busy;
    for (const [stream, given] of busy ?? []) if (isSame(given.place, place)) busy!.delete(stream);
  }

  forget(pid: number): void {
    this.#processes.delete(pid);
  }

  end(): void {
    this.#processes.clear();
  }

  #waited(process: Process, { signature: { name }, place, event, began, at }: Done, stream: Stream): void {
    const { busy, events } = process;
    if (name.includes("Event")) {
      const recorded = event === undefined ? undefined : events.get(event);
      // What it stands for is not known.
      if (recorded === undefined || recorded.began > began) return;
      passUntil(busy, recorded.stream, recorded.began);
    } else if (/Fence|Semaphore/.test(name)) return;
    else if (/Stream|Queue|CommandList/.test(name)) passUntil(busy, stream, began);
    else for (const [stream, given] of busy) if (isSame(given.place, place)) passUntil(busy, stream, began);
    // One wait more changes nothing; one that was made within this one, by the runtime's call, ends before it.
    if (busy.size === 0 && (process.idle === null || began <= process.idle)) process.idle = at;
  }
}

/** What a stream was given until then is done. */
function passUntil(busy: Process["busy"], stream: Stream, until: Ns): void {
  if ((busy.get(stream)?.at ?? Infinity) <= until) busy.delete(stream);
}

/** Of what goes on behind its call it may not be: CUDA's versions have the stream in different places. Nobody could be seen to wait for it. */
function isStreamKnown({ signature: { name }, gpu: { stream } }: Done): boolean {
  return stream !== undefined || !name.endsWith("Async");
}
