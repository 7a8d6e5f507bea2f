import assert from "node:assert/strict";
import type { Args, Chain, Slice } from "../events/span.ts";
import { Tracks } from "../events/tracks.ts";
import { SliceBounds } from "./slice_bounds.ts";

/** 1 byte a nanosecond from memory, 4 from a cache of 1000 bytes, 10 operations. */
const ceilings = [{
  threads: 1,
  memoryBytes: 1e9,
  cacheBytes: 4e9,
  cacheSize: 1000,
  cachesSize: 1000,
  flops: 1e10,
  byteOperations: 1e10,
  bf16Flops: 2e10,
}];
const tracks = new Tracks();

function op(ns: number, args: Args): Slice {
  return { type: "slice", track: tracks.lane(1, "worker 0"), name: "MUL_MAT", category: "ggml.op", start: 0, end: ns, args: { worker: 0, ...args } };
}

const graph: Slice = { type: "slice", track: tracks.thread(1, 1), name: "ggml_graph_compute", category: "ggml.graph", start: 0, end: 9, args: {} };

Deno.test("slices: what binds each, from the second graph on, with few objects", () => {
  const bounds = new SliceBounds(ceilings);
  const weights = op(2000, { bytes: 2000, cold: 2000, flops: 100 });
  assert.equal(bounds.of(weights), weights, "whether weights fit is not known yet");
  bounds.of(graph);
  const [first, second] = [bounds.of(weights) as Slice, bounds.of(weights) as Slice];
  assert.equal(first.args!.bound_type, "memory");
  assert.equal(first.args, second.args, "one object for each tensor and verdict");
  assert.equal((bounds.of(op(100, { bytes: 10, flops: 1000 })) as Slice).args!.bound_type, "compute");
  assert.equal((bounds.of(op(9000, { bytes: 10, flops: 1000 })) as Slice).args!.bound_type, "neither");
  assert.equal((bounds.of(op(100, { bytes: 10, flops: 1000, bf16: true })) as Slice).args!.bound_type, "neither", "these are twice as fast");
  assert.equal((bounds.of(op(9000, {})) as Slice).args!.bound_type, undefined, "what it asks is not known");
});

Deno.test("slices: each of a chain as if it were alone, with the same objects", () => {
  const bounds = new SliceBounds(ceilings);
  const [weights, work] = [op(2000, { bytes: 2000, cold: 2000, flops: 100 }), op(100, { bytes: 10, flops: 1000 })];
  const chain: Chain = { type: "chain", track: weights.track, category: "ggml.op", links: [weights, work, weights], times: [0, 2000, 2100, 9100] };
  bounds.of(chain);
  bounds.of(graph);
  const { links, times } = bounds.of(chain) as Chain;
  assert.deepEqual([links.map(({ args }) => args!.bound_type), times], [["memory", "compute", "neither"], chain.times]);
  assert.equal(links[0]!.args, (bounds.of(weights) as Slice).args);
});

Deno.test("slices: weights that fit are bound by the cache, and graphs are told apart", () => {
  const bounds = new SliceBounds(ceilings);
  const small = op(220, { bytes: 800, cold: 800, flops: 0 });
  bounds.of(small);
  bounds.of(graph);
  assert.equal((bounds.of(small) as Slice).args!.bound_type, "cache");
  bounds.of(small);
  bounds.of(graph);
  assert.equal((bounds.of(small) as Slice).args!.bound_type, "memory", "1600 bytes of a graph do not fit into 1000");
});

Deno.test("slices: experts among which others may be chosen are not said to be in the cache, unless all of them fit", () => {
  const after = (all: number) => {
    const bounds = new SliceBounds(ceilings),
      [weights, experts] = [{ bytes: 400, cold: 400, flops: 0 }, { bytes: 400, cold: 400, coldAll: all, flops: 0 }];
    for (const span of [op(110, weights), op(110, experts), graph]) bounds.of(span);
    return [weights, experts].map((args) => (bounds.of(op(110, args)) as Slice).args!.bound_type);
  };
  assert.deepEqual([after(600), after(601)], [["cache", "cache"], ["cache", undefined]]);
});

Deno.test("slices: whether weights stay in the cache is not known beside an operator that does not tell what it reads", () => {
  const bounds = new SliceBounds(ceilings);
  const small = op(220, { bytes: 800, cold: 800, flops: 0 }), scan = op(100, {});
  const after = (...spans: Slice[]) => {
    for (const span of [...spans, graph]) bounds.of(span);
    return (bounds.of(small) as Slice).args!.bound_type;
  };
  assert.equal(after(small, scan), undefined);
  // The one that was asked about is the first of the next graph.
  assert.equal(after(scan, small), "memory", "1600 bytes do not fit into 1000, whatever else there is");
});

Deno.test("slices: a token whose layers are graphs of their own reads the weights of all of them", () => {
  const bounds = new SliceBounds(ceilings);
  const layer = op(800, { bytes: 800, cold: 800, flops: 0 }), call: Slice = { ...graph, category: "llama.decode", args: { phase: "decode" } };
  const token = () => {
    for (let i = 0; i < 3; i++) {
      bounds.of(layer);
      bounds.of(graph);
    }
    bounds.of(call);
  };
  token();
  token();
  assert.equal((bounds.of(layer) as Slice).args!.bound_type, "memory", "2400 bytes of a token do not fit into 1000");
});
