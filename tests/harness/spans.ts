import type { Args, Counter, Instant, Mark, Slice, Span } from "../../lib/events/span.ts";
import { Tracks } from "../../lib/events/tracks.ts";
import type { Analysis } from "../../lib/analysis/analysis.ts";

export const MS = 1e6;

/** A trace's times are whole nanoseconds. */
function ns(ms: number): number {
  return Math.round(ms * MS);
}

/** Makes spans for tests. Times in milliseconds; the process is 100 and its thread 100 unless told otherwise. */
export class TestSpans {
  readonly tracks = new Tracks();

  constructor(readonly pid = 100, readonly tid = pid) {}

  /** The same trace, another process or thread. */
  of(pid: number, tid = pid): TestSpans {
    const other = new TestSpans(pid, tid);
    Object.assign(other, { tracks: this.tracks });
    return other;
  }

  slice(category: string, start: number, end: number, args?: Args, open?: boolean): Slice {
    const track = this.tracks.thread(this.pid, this.tid);
    return { type: "slice", track, name: category, category, start: ns(start), end: ns(end), ...(args && { args }), ...(open && { open }) };
  }

  op(name: string, start: number, end: number, args: Args = {}, open?: boolean, graph = ""): Slice {
    const worker = Number(args.worker ?? 0);
    const track = this.tracks.lane(this.pid, `worker ${worker}${graph}`, 10 + worker);
    return { ...this.slice("ggml.op", start, end, { tensor: `${name.toLowerCase()}-0`, layer: 0, ...args, worker }, open), track, name };
  }

  graph(start: number, end: number, nodes = 1, open?: boolean): Slice {
    return this.slice("ggml.graph", start, end, { nodes, threads: 1 }, open);
  }

  decode(phase: "prefill" | "decode", start: number, end: number, tokens = 1, open?: boolean): Slice {
    return this.slice("llama.decode", start, end, { tokens, phase, ...(!open && { ret: 0 }) }, open);
  }

  sample(start: number, end: number): Slice {
    return this.slice("llama.sample", start, end);
  }

  stop(start: number, end: number): Slice {
    return { ...this.slice("llmprof.stopped", start, end), track: this.tracks.lane(this.pid, "stopped by llmprof"), name: "library mapped" };
  }

  touch(file: string | undefined, start: number, end: number, faults: number, more: Args = {}): Slice {
    const slice = this.slice("memory.touch", start, end, { ...(file !== undefined && { file }), faults, ...more });
    return { ...slice, track: this.tracks.lane(this.pid, `page faults ${this.tid}`, 2) };
  }

  read(file: string, start: number, end: number, bytes = 1000, inode = inodeOf(file)): Slice {
    return this.slice("file.read", start, end, { file, dev: 1, inode, bytes });
  }

  open(file: string, start: number, end: number, inode = inodeOf(file)): Slice {
    return this.slice("file.open", start, end, { file, dev: 1, inode, bytes: 5e6 });
  }

  map(file: string, start: number, end: number, bytes = 1000): Slice {
    return this.slice("file.map", start, end, { file, dev: 1, inode: inodeOf(file), bytes, address: 4096 });
  }

  /** Calls of an operator that were added up; `of`: the arguments of one that was told. */
  sum(name: string, of: Args, calls: number, timed: number, ms: number, startMs = 0): Instant {
    const sum = { of, calls, timed, ns: ns(ms), startNs: ns(startMs) };
    return { ...this.#instant("ggml.sum", 0, { ...of, calls, ns: ns(ms) }), name, sum };
  }

  /** A timer's sample. */
  running(at: number, code: string): Instant {
    return this.#instant("process.running", at, { code });
  }

  exec(at: number, file = "engine"): Instant {
    return { ...this.#instant("process.exec", at, { file }), name: file };
  }

  fork(at: number, child: number): Instant {
    return this.#instant("process.fork", at, { child });
  }

  accept(at: number): Instant {
    return this.#instant("socket.accept", at, { fd: 4 });
  }

  exit(at: number): Instant {
    return this.#instant("process.exit", at, { code: 0, signal: 0 });
  }

  counter(name: string, at: number, value: number): Counter {
    return { type: "counter", track: this.tracks.counter(this.pid, name, "bytes"), at: ns(at), value };
  }

  mark(kind: Mark["kind"], count?: number): Mark {
    return { type: "mark", at: 0, kind, stream: "ggml", text: "", ...(count !== undefined && { count }) };
  }

  #instant(category: string, at: number, args: Args): Instant {
    return { type: "instant", track: this.tracks.thread(this.pid, this.tid), name: category, category, at: ns(at), args };
  }
}

export function analyse<Result>(analysis: Analysis<Result>, spans: readonly Span[]): Result {
  for (const span of spans) analysis.span(span);
  return analysis.result();
}

/** In the order in which a trace brings them. */
export function byEnd(spans: readonly Span[]): Span[] {
  const end = (span: Span) => span.type === "slice" ? span.end : span.type === "chain" ? span.times.at(-1)! : span.at;
  return [...spans].sort((a, b) => end(a) - end(b));
}

/** A repeatable source of whole numbers in [0, below). */
export function seeded(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

/** Files of different names are different ones. */
function inodeOf(file: string): number {
  return [...file].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)!) % 1_000_003, 0);
}
