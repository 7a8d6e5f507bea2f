import type { TraceHead } from "../../lib/events/exporter.ts";
import { singly } from "../../lib/events/chain.ts";
import type { Link, Slice, Span, Track } from "../../lib/events/span.ts";
import { Tracks } from "../../lib/events/tracks.ts";

/**
 * Spans that every exporter must bring through: each condition that broke a reader or could. The clock's base is above 2^53, where neither a
 * number nor a JSON reader is exact to the nanosecond any more.
 */
export const head: TraceHead = {
  clock: { name: "boottime", base: 9_700_000_123_456_789n, realtimeOffset: 1_750_000_000_987_654_321n },
  llmprof: "0.1.0",
  command: "record",
  facts: { kernel: "6.18", model: 'mödel "Q4_0".gguf', empty: "" },
};

const tracks = new Tracks();
export const main: Track = tracks.thread(4194300, 4194300);
export const worker: Track = tracks.thread(4194300, 4194301);
export const lane: Track = tracks.lane(4194300, "worker 1", 2);
const firstLane: Track = tracks.lane(4194300, "worker 0", 1);
const machineLane = tracks.lane(0, "block requests", 0);
const faults = tracks.counter(4194300, "page faults", "faults");
const filled = tracks.counter(4194300, "page cache filled: m.gguf", "bytes", { group: "page cache filled" });
const pressure = tracks.counter(0, "memory pressure", "ratio");
const run = tracks.run();
const processTrack: Track = tracks.process(4194300);

const slice = (track: Track, category: string, name: string, start: number, end: number, more: Partial<Slice> = {}): Slice => ({
  type: "slice",
  track,
  name,
  category,
  start,
  end,
  ...more,
});

const links: readonly Link[] = [
  { name: "RMS_NORM", args: { tensor: "norm-0", worker: 0 } },
  { name: "MUL_MAT", args: { tensor: "Qcur-0", worker: 0 } },
];

/** In the order in which a session emits them: a slice when it ends. */
export const spans: readonly Span[] = [
  { type: "name", track: main, name: "llama-server", at: 0 },
  { type: "name", track: processTrack, name: "bash", at: 0 },
  { type: "name", track: processTrack, name: "llama-server", at: 1 },
  { type: "mark", at: 1, kind: "window", stream: "ggml", text: "ggml open" },
  { type: "instant", track: main, name: "server", category: "process.exec", at: 5, args: { file: "/usr/bin/säärver ☃", tid: 7 } },
  { type: "counter", track: faults, at: 6, value: 0 },
  // Begins with the slice around it, and ends first.
  slice(main, "file.open", "open model.gguf", 10, 20, { args: { file: "/m/model.gguf", dev: 2049, inode: 9007199254740991, bytes: -1 } }),
  slice(main, "file.read", "read model.gguf", 20, 30, { args: { bytes: 4096, exact: true, share: 0.125 } }),
  slice(main, "library.load", "model.gguf", 10, 30),
  // Without length: alone, at the beginning and in the middle of another.
  slice(main, "socket.listen", "listen", 40, 40, { args: { fd: 3, errno: 0 } }),
  slice(main, "memory.lock", "mlock", 50, 50),
  slice(main, "memory.lock", "mlock", 60, 60),
  slice(main, "llama.load", "llama_model_load_from_file", 50, 70),
  // One after another, each beginning where the last ended.
  slice(lane, "ggml.op", "MUL_MAT", 100, 250, { args: { tensor: "blk.0.ffn_up", shape: "64x64", layer: 0, worker: 1 } }),
  slice(lane, "ggml.op", "ADD", 250, 251, { args: { tensor: "blk.0.add", shape: "64", layer: 0, worker: 1 } }),
  slice(lane, "ggml.op", "MUL_MAT", 251, 400, { args: { tensor: "blk.0.ffn_up", shape: "64x64", layer: 0, worker: 1 } }),
  slice(firstLane, "ggml.op", "SOFT_MAX", 100, 400),
  // The same three times: what is written again and again is written from the second time on as it was before.
  ...[[400, 410, 417], [420, 421, 500], [500, 570, 571]].map((times): Span => ({
    type: "chain",
    track: firstLane,
    category: "ggml.op",
    links,
    times,
  })),
  // Overlap without nesting: two requests in flight at once.
  slice(machineLane, "block.request", "read", 100, 300),
  slice(machineLane, "block.request", "write", 200, 350),
  slice(machineLane, "block.request", "discard", 250, 360),
  { type: "counter", track: filled, at: 300, value: 113_246_208 },
  { type: "counter", track: pressure, at: 301, value: 12.5 },
  { type: "counter", track: faults, at: 302, value: 23 },
  { type: "counter", track: filled, at: 303, value: -4096 },
  { type: "mark", at: 310, kind: "lost", stream: "ggml", text: "23 events of ggml lost", count: 23 },
  { type: "name", track: main, name: "llama-main", at: 320 },
  slice(worker, "llama.decode", "llama_decode", 100, 5_000_000_000_000, { args: { tokens: 1, phase: "decode" }, open: true }),
  slice(run, "llmprof.replay", "before the base", -1_000_000, -999_000),
  slice(processTrack, "process.life", "llama-server", 0, 5_000_000_000_000, { open: true }),
  { type: "mark", at: 5_000_000_000_000, kind: "window", stream: "ggml", text: "ggml closed" },
];

export const slices: readonly Slice[] = spans.flatMap(singly).filter((span) => span.type === "slice");
