import type { SpanSink, Track } from "../../lib/events/span.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Call, Done } from "./call.ts";
import type { Place } from "./devices.ts";
import { hex } from "./said.ts";
import type { Kind } from "./signatures.ts";

/** Calls that give a GPU something to do. */
const WORK = new Set<Kind>(["launch", "graphLaunch", "copy", "set", "prefetch", "collective", "submit"]);
/** CU_STREAM_LEGACY and CU_STREAM_PER_THREAD: the stream without a name, which a context has, or each thread. */
const LEGACY = 1, PER_THREAD = 2;
/** What others call so are queues, and lists that are put into these later. */
const WITH_STREAMS = new Set(["cuda", "cudart", "nccl", "hip"]);

export function isWork(kind: Kind): boolean {
  return WORK.has(kind);
}

/** By its handle, or in words where it has none. */
export type Stream = number | string;

/** What is given to one is done in turn. */
export function streamOf({ gpu: { stream = 0 }, tid, place, perThread }: Done): Stream {
  const ofThread = isThreads(stream, perThread);
  if (!ofThread && stream !== 0 && stream !== LEGACY) return stream;
  return unnamed(place, ofThread ? tid : undefined);
}

/** The same, wherever its thread works: what is asked of one while it is recorded is a part of the graph. */
export function recordedIn(stream: number, { tid, perThread }: Pick<Call, "tid" | "perThread">): Stream {
  return isThreads(stream, perThread) ? `thread ${tid}` : stream;
}

function isThreads(stream: number, perThread: boolean): boolean {
  return stream === PER_THREAD || (stream === 0 && perThread);
}

/** The stream without a handle that all threads share. */
export function defaultStream(place: Place): Stream {
  return unnamed(place, undefined);
}

/** By place and thread: a launch does not put its stream's name together. */
const names = new WeakMap<Place, Map<number | undefined, string>>();

/** The stream without a handle in a place, or a thread's there. */
function unnamed(place: Place, thread: number | undefined): string {
  let ofPlace = names.get(place);
  if (!ofPlace) names.set(place, ofPlace = new Map());
  let name = ofPlace.get(thread);
  if (name === undefined) {
    const { device, own } = place;
    name = `GPU ${device}${own === undefined ? "" : `, context ${hex(own)}`}, default stream${thread === undefined ? "" : ` of thread ${thread}`}`;
    ofPlace.set(thread, name);
  }
  return name;
}

/** Draws what a stream is given on its row: as a moment, in which the call began, because when the GPU does it is not seen. */
export class StreamRows {
  /** By process: a launch does not put its name together. */
  readonly #rows = new Map<number, Map<Stream, Track>>();

  constructor(readonly tracks: Tracks) {}

  given(done: Done, out: SpanSink): void {
    const { signature: { name, kind }, gpu: { family, stream, kernel, isCaptured }, pid, began } = done;
    if (stream === undefined || isCaptured || !isWork(kind) || !WITH_STREAMS.has(family)) return;
    out({ type: "instant", track: this.#row(pid, streamOf(done)), name: kernel ?? name, category: "gpu.stream", at: began });
  }

  #row(pid: number, stream: Stream): Track {
    let rows = this.#rows.get(pid);
    if (!rows) this.#rows.set(pid, rows = new Map());
    let row = rows.get(stream);
    if (!row) rows.set(stream, row = this.tracks.lane(pid, typeof stream === "number" ? `stream ${hex(stream)}` : stream, 7));
    return row;
  }
}
