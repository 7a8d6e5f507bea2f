import assert from "node:assert/strict";
import type { CodeFact, ProgramFact } from "../events/fact.ts";
import { percent } from "../events/text.ts";
import { parseCalibration, uncalibrated } from "../machine/calibration.ts";
import { Tally } from "../timeline/tally.ts";
import { measuredOverhead } from "./measured.ts";
import { costOfHits, hitCost, hitsOf, overheadOf } from "./prediction.ts";

const calibration = { nop: 500, emulated: 700, stepped: 10_000, back: 1000, printed: 5000, measured: true };

Deno.test("prediction: hits at their price, over what is left of the target's CPU time without them", () => {
  const hits = [
    { cost: "emulated", count: 25_000 },
    { cost: "stepped", count: 100 },
    { cost: "tracepoint", count: 10 },
    { cost: "shared with its return", count: 1 },
  ];
  assert.equal(costOfHits(hits, calibration), 25_000 * 700 + 100 * 10_000 + 10 * 500 + 420);
  assert.equal(hitCost("stepped and back", calibration), 11_000);
  assert.equal(hitCost("stepped and back and printed", calibration), 16_000);
  assert.equal(hitCost("tracepoint and printed", calibration), 5500);
  assert.equal(overheadOf(20e6, 1020e6), 0.02);
  assert.equal(overheadOf(20e6, 20e6), null);
  assert.equal(overheadOf(0, 0), null);
});

Deno.test("prediction: a site has as many hits as its most frequent record, those that cannot be told apart share them, and those that add up operators as many as there were", () => {
  const tally = new Tally({ 10: { name: "ggml/ops.op", fields: [] }, 11: { name: "ggml/ops.tensor", fields: [] } });
  for (let i = 0; i < 184; i++) tally.event(i < 3 ? 11 : 10, i);
  tally.event(10, 184);
  tally.event(10, 185);
  tally.event(10, 186);
  const sites = [
    { probe: "ggml/ops", site: "a", cost: "emulated", records: ["ggml/ops.tensor", "ggml/ops.op"] },
    { probe: "x/y", site: "b", cost: "stepped", records: [] },
    { probe: "ggml/sums", site: "c", cost: "nop", records: [], perOperator: 1.5 },
    { probe: "torch/ops", site: "d", cost: "nop", records: ["ggml/ops.op"], among: 2 },
  ];
  const told = { tallies: new Map([["ggml", tally]]), code: new Map() };
  const hits = hitsOf([{ fact: "program", stream: "ggml", sites }, { fact: "note", text: "" }], told, 1000);
  assert.deepEqual(hits, [{ cost: "emulated", count: 184 }, { cost: "stepped", count: 0 }, { cost: "nop", count: 1500 }, {
    cost: "nop",
    count: 92,
  }]);
});

Deno.test("prediction: where a record tells in which function it was, each function has its own price, however many share an attach point", () => {
  const fields = [{ name: "function", type: "int", unit: "code" }] as const;
  const tally = new Tally({ 10: { name: "cuda/calls.call", fields }, 11: { name: "cuda/calls.at", fields: [] } });
  // Behind the first instruction, at the last byte, and where nobody knows a function.
  for (const [at, count] of [[0x1004, 7], [0x2000, 3], [0x200f, 2], [0x2010, 100]] as const) {
    for (let i = 0; i < count; i++) tally.event(10, i, [at, i]);
  }
  tally.event(11, 1, []);
  const functions = [{ at: 0x2000, bytes: 16, name: "cuMemAlloc_v2" }, { at: 0x1000, bytes: 64, name: "cuLaunchKernel" }];
  const code: CodeFact = { fact: "code", pid: 1, of: "cuda", ranges: [], functions };
  const told = { tallies: new Map([["cuda", tally]]), code: new Map([["1 cuda", code]]) };
  const site = { probe: "cuda/calls", site: "libcuda.so.1: 2 functions", cost: "stepped", records: ["cuda/calls.call"], among: 2 };
  const sites: ProgramFact["sites"] = [
    { ...site, functions: { stepped: ["cuLaunchKernel"], emulated: ["cuMemAlloc_v2"] } },
    { ...site, functions: { "emulated and back": ["cuLaunchKernel", "cuMemAlloc_v2", "cuInit"] } },
  ];
  assert.deepEqual(hitsOf([{ fact: "program", stream: "cuda", sites }], told, 0), [
    { cost: "stepped", count: 7 },
    { cost: "emulated", count: 5 },
    { cost: "emulated and back", count: 12 },
  ]);
});

Deno.test("prediction: turns, and copies of a library, have functions by the same names, and each hit its price once", () => {
  const fields = [{ name: "function", type: "int", unit: "code" }] as const;
  const heard = (at: number, times: number) => {
    const tally = new Tally({ 10: { name: "cudart/calls.call", fields } });
    for (let i = 0; i < times; i++) tally.event(10, i, [at]);
    return tally;
  };
  const copy = (pid: number, at: number): CodeFact => ({
    fact: "code",
    pid,
    of: "cudart",
    ranges: [],
    functions: [{ at, bytes: 64, name: "cudaMalloc" }],
  });
  const told = {
    tallies: new Map([["cudart", heard(0x1000, 7)], ["cudart-2", heard(0x5010, 2)]]),
    code: new Map([["1 cudart", copy(1, 0x1000)], ["2 cudart", copy(2, 0x5000)]]),
  };
  const site = {
    probe: "cudart/calls",
    site: "libcudart.so.12:cudaMalloc",
    cost: "stepped",
    records: ["cudart/calls.call"],
    functions: { stepped: ["cudaMalloc"] },
  };
  const turns = ["cudart", "cudart-2"].map((stream): ProgramFact => ({
    fact: "program",
    stream,
    sites: [site, { ...site, site: "another copy's" }],
  }));
  assert.deepEqual(hitsOf(turns, told, 0), [{ cost: "stepped", count: 7 }, { cost: "stepped", count: 2 }]);
});

Deno.test("prediction: turns, lives and copies of a library that add up operators have no more hits together than there were operators", () => {
  const sum = (site: string) => ({ probe: "ggml/sums", site, cost: "nop", records: [], perOperator: 1 });
  const graph = { probe: "ggml/graph", site: "g", cost: "emulated", records: ["ggml/graph.graph"] };
  const programs = (...sites: ProgramFact["sites"][]) => sites.map((sites, i): ProgramFact => ({ fact: "program", stream: `ggml-${i}`, sites }));
  const told = { tallies: new Map(), code: new Map() };
  const total = (facts: ProgramFact[]) => hitsOf(facts, told, 999).reduce((sum, { count }) => sum + count, 0);
  assert.equal(total(programs([graph, sum("a")], [graph, sum("a")], [graph, sum("a")])), 999);
  assert.equal(total(programs([{ ...sum("a"), among: 2 }, { ...sum("b"), among: 2 }])), 999);
  const barrier = { ...sum("b"), probe: "ggml/barrier", perOperator: 1.5 };
  assert.equal(total(programs([sum("a"), barrier], [sum("a"), barrier, graph])), 2.5 * 999, "of each probe by itself");
});

Deno.test("measured: medians of enough decodes, or nothing", () => {
  const of = (ns: number, count = 21, context = 7) => Array.from({ length: count }, (_, i) => ({ context, ns: ns + (i === 0 ? 1e9 : 0) }));
  assert.ok(Math.abs(measuredOverhead(of(100), of(103))! - 0.03) < 1e-12);
  assert.equal(measuredOverhead(of(100, 19), of(103)), null);
  assert.equal(measuredOverhead(of(100), []), null);
  assert.equal(measuredOverhead(of(100), of(103, 21, 8)), null, "another context");
  assert.ok(Math.abs(measuredOverhead(of(100), [...of(103), ...of(200, 100)])! - 0.03) < 1e-12, "later, each takes longer by itself");
});

Deno.test("calibration: what a cache kept is believed only when it is whole", () => {
  const kept = { nop: 1, emulated: 2, stepped: 3, back: 4, printed: 5 };
  assert.deepEqual(parseCalibration(kept), { ...kept, measured: true });
  for (const bad of [null, 5, "x", {}, { ...kept, nop: "1" }, { ...kept, stepped: -1 }, { ...kept, back: null }, { ...kept, nop: 1e12 }]) {
    assert.equal(parseCalibration(bad), null);
  }
  assert.equal(uncalibrated.measured, false);
});

Deno.test("percent: as many digits as say something", () => {
  assert.deepEqual([0.0123, 1.5, 0.00456, 0.00001, 0.1].map(percent), ["1.2 %", "150 %", "0.46 %", "0.001 %", "10.0 %"]);
});
