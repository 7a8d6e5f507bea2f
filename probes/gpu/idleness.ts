import type { GpuCall, SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Signature } from "./signatures.ts";

/** Calls that give a GPU something to do. */
const WORK = new Set(["launch", "graphLaunch", "copy", "set", "prefetch", "collective", "submit"]);

interface Process {
  /** Streams that were given something to do and not waited for since. */
  readonly busy: Set<number>;
  /** Since when its GPU has had nothing to do. */
  idle: Ns | null;
}

/**
 * Times in which a process's GPU had nothing to do because its CPU had given it nothing: from a wait for all that it had been given, to the next that it is
 * given. What other processes give it is not seen.
 */
export class Idleness {
  readonly #processes = new Map<number, Process>();

  constructor(readonly tracks: Tracks) {}

  /** A call that was done. */
  call({ kind, name }: Signature, { stream = 0, isCaptured, family }: GpuCall, pid: number, began: Ns, at: Ns, out: SpanSink): void {
    if (kind !== "sync" && (!WORK.has(kind) || isCaptured)) return;
    let process = this.#processes.get(pid);
    if (!process) this.#processes.set(pid, process = { busy: new Set(), idle: null });
    if (kind === "sync") {
      // What an event stands for is not known.
      if (/Event|Fence|Semaphore/.test(name)) return;
      if (/Stream|Queue|CommandList/.test(name)) process.busy.delete(stream);
      else process.busy.clear();
      if (process.busy.size === 0) process.idle = at;
      return;
    }
    if (process.idle !== null && began > process.idle) {
      const track = this.tracks.lane(pid, "GPU without work", 6);
      out({ type: "slice", track, name: "no work", category: "gpu.gap", start: process.idle, end: began, args: { next: name } });
    }
    process.idle = null;
    // One that returns when it is done, in the stream that has no name.
    const blocks = kind === "copy" && !name.endsWith("Async") && family !== "levelzero";
    if (!blocks) process.busy.add(stream);
    else if (process.busy.size === 0) process.idle = at;
  }

  end(): void {
    this.#processes.clear();
  }
}
