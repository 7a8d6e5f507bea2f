import assert from "node:assert/strict";
import type { OffCpu, Span } from "../events/span.ts";
import type { Detail } from "../programs/detail.ts";
import type { Ceilings } from "../machine/ceilings/ceilings.ts";
import { ContextTables } from "./context_tables.ts";
import { DecodeContext } from "./decode_context.ts";
import { GraphLedger } from "./graph_ledger.ts";
import { operators } from "./operators.ts";
import { OperatorTable } from "./operator_table.ts";
import { presentOperators } from "./operators_present.ts";
import { type OperatorsResult, operatorsResultSchema } from "./operators_schema.ts";
import { StoppedTimes } from "./stopped.ts";
import { analyse, byEnd, MS, seeded, TestSpans } from "../../tests/harness/spans.ts";

/** One call with a graph of three operators: starts 0.5 ms into the call, the graph's first operator 0.5 ms later. */
function call(s: TestSpans, phase: "prefill" | "decode", at: number, length: number, tokens = 1): Span[] {
  const third = (length - 1.5) / 3;
  const op = (i: number) => [at + 1 + i * third, at + 1 + (i + 1) * third] as const;
  return [
    s.op("MUL_MAT", ...op(0), { tensor: "ffn_gate-0", layer: 0 }),
    s.op("MUL_MAT", ...op(1), { tensor: "ffn_gate-1", layer: 1 }),
    s.op("ADD", ...op(2), { tensor: "result", layer: false }),
    s.graph(at + 0.5, at + length - 0.5, 3),
    s.decode(phase, at, at + length, tokens),
  ];
}

function run(spans: readonly Span[], detail: Detail = "op"): OperatorsResult {
  const result = analyse(operators(detail), spans);
  assert.deepEqual(operatorsResultSchema.parse(result), result);
  for (const rows of [result.operators, result.layers, result.tensors]) {
    const sum = rows.reduce((total, row) => total + row.totalNs, 0);
    assert.ok(Math.abs(sum - result.time.graphNs!) < 1, `rows sum to ${sum}, graphs to ${result.time.graphNs}`);
  }
  presentOperators(result);
  return result;
}

const notes = (result: OperatorsResult) => presentOperators(result).flatMap((view) => (view.type === "note" ? [view.text] : []));

Deno.test("time between two decodes: what libllama was asked meanwhile explains a part of it", () => {
  const s = new TestSpans(), other = s.of(100, 101);
  const generates = s.decode("decode", 26, 33.5);
  const result = run(byEnd([
    s.slice("llama.context", 0, 1, { cells: 512, ok: true }),
    ...call(s, "prefill", 10, 10, 32),
    s.slice("llama.tokenize", 11, 12),
    s.sample(21, 22),
    s.slice("llama.detokenize", 22, 22.5),
    // On another thread, and in part while the next call runs.
    other.slice("llama.tokenize", 22.25, 24),
    other.slice("llama.tokenize", 25.5, 27),
    { ...s.exec(25), category: "llama.memory", name: "llama_memory_seq_rm" },
    other.slice("llama.tokenize", 30, 31.5),
    { ...generates, args: { ...generates.args, position: 40 } },
    s.slice("llama.save", 50, 57, undefined, true),
  ]));
  assert.equal(result.time.betweenDecodesNs, 6 * MS);
  // 20–21, 24–25.5.
  assert.equal(result.time.betweenUnknownNs, 2.5 * MS);
  assert.deepEqual(result.libraryCalls, [
    { name: "tokenize", calls: 4, ns: 5.75 * MS },
    { name: "detokenize", calls: 1, ns: 0.5 * MS },
    { name: "save state", calls: 1, ns: 0 },
  ]);
  assert.deepEqual(result.cache, { cells: 512, attendedCells: null, longestSequence: 41, changes: [{ name: "llama_memory_seq_rm", calls: 1 }] });
});

Deno.test("time between two decodes: a call that failed explains its own, and a stop inside of a call is taken out once", () => {
  const s = new TestSpans();
  const failed = s.decode("decode", 14, 17);
  const result = run(byEnd([
    s.decode("prefill", 0, 10, 8),
    s.sample(11, 13),
    s.stop(11.5, 12.5),
    { ...failed, args: { ...failed.args, ret: 1, position: 99 } },
    s.decode("decode", 18, 25),
  ]));
  assert.equal(result.time.betweenDecodesNs, 7 * MS);
  // 10–11, 13–14, 17–18.
  assert.equal(result.time.betweenUnknownNs, 3 * MS);
  assert.equal(result.cache.longestSequence, null);
});

Deno.test("prefill and decode apart, rates, time between tokens, rows that sum to the graphs", () => {
  const s = new TestSpans();
  const result = run([
    ...call(s, "prefill", 0, 16.5, 32),
    s.sample(17, 18),
    ...call(s, "decode", 20, 7.5),
    s.sample(28, 28.5),
    ...call(s, "decode", 30, 7.5),
  ]);
  assert.deepEqual(result.tokens, {
    prefill: 32,
    decode: 2,
    besidePrompts: 0,
    guessed: 0,
    kept: 0,
    prefillCalls: 1,
    decodeCalls: 2,
    openCalls: 0,
    failedCalls: 0,
  });
  assert.equal(Math.round(result.rates.prefillPerSecond!), Math.round(32 / 0.0165));
  assert.equal(Math.round(result.rates.decodePerSecond!), Math.round(2 / 0.015));
  assert.equal(Math.round(result.rates.generatedPerSecond!), Math.round(2 / 0.021));
  assert.equal(result.firstTokenNs, 18 * MS);
  assert.equal(result.betweenTokens!.meanNs, 10.5 * MS);
  assert.equal(result.betweenTokens!.maxNs, 11 * MS);
  assert.equal(result.time.decodeNs, 31.5 * MS);
  assert.equal(result.time.graphNs, 28.5 * MS);
  assert.equal(result.time.outsideGraphNs, 3 * MS);
  assert.equal(result.time.samplingNs, 1.5 * MS);
  assert.equal(result.time.betweenDecodesNs, 6 * MS);
  const [mulMat, add, start] = result.operators;
  assert.deepEqual([mulMat!.name, mulMat!.calls, mulMat!.totalNs], ["MUL_MAT", 6, 18 * MS]);
  assert.deepEqual([mulMat!.prefill.totalNs, mulMat!.decode.totalNs], [10 * MS, 8 * MS]);
  assert.equal(mulMat!.prefill.p50Ns, 5 * MS);
  assert.deepEqual([add!.name, add!.calls, add!.share], ["ADD", 3, 9 / 28.5]);
  assert.deepEqual([start!.name, start!.calls, start!.totalNs, start!.meanNs], ["graph start", 0, 1.5 * MS, null]);
  assert.deepEqual(result.layers.map((row) => [row.layer, row.calls]), [[0, 3], [1, 3], [null, 3]]);
  assert.deepEqual(result.tensors.map((row) => [row.name, row.calls]), [["ffn_gate", 6], ["result", 3], ["graph start", 0]]);
  assert.equal(result.graphs.nodes, result.operators.reduce((sum, row) => sum + row.calls, 0));
});

Deno.test("sums: to the calls and the phase of an operator that was told, and the rest of their graphs is what is left", () => {
  const s = new TestSpans();
  const first = s.op("MUL_MAT", 1, 4, { bytes: 1e6 }), second = s.op("ADD", 4, 5);
  const result = run([
    first,
    second,
    s.graph(0.5, 5.5, 2),
    s.decode("decode", 0, 6),
    // Added up: two graphs, and one in whose second operator the window was shut.
    s.graph(6.5, 11, 2),
    s.decode("decode", 6, 11.5),
    s.graph(12, 17, 2),
    s.decode("decode", 11.5, 17.5),
    s.graph(18, 22, 2, true),
    s.sum("MUL_MAT", first.args!, 3, 3, 9.5, 0.75),
    s.sum("ADD", second.args!, 3, 2, 2),
    s.sum("unknown operator", { worker: 0 }, 1, 1, 0.25),
  ], "sum");
  const rows = new Map(result.operators.map((row) => [row.name, row]));
  const mulMat = rows.get("MUL_MAT")!, add = rows.get("ADD")!;
  assert.deepEqual([mulMat.calls, mulMat.totalNs, mulMat.decode.calls, mulMat.openCalls, mulMat.bytes], [4, 12.5 * MS, 4, 0, 4e6]);
  assert.deepEqual([add.calls, add.totalNs, add.openCalls, add.meanNs, add.p50Ns], [4, 3 * MS, 1, MS, null]);
  assert.equal(rows.get("unknown operator")!.other.calls, 1);
  assert.equal(rows.get("graph start")!.totalNs, 1.25 * MS);
  assert.deepEqual([result.graphs.count, result.graphs.withoutOperators, result.time.graphNs], [4, 0, 18.5 * MS]);
  assert.deepEqual(result.workers, []);
  const titles = presentOperators(result).flatMap((view) => (view.type === "table" ? view.columns.map(({ title }) => title) : []));
  assert.ok(titles.includes("mean") && !titles.includes("p50"));
});

Deno.test("the time at which llmprof held the process is in no duration", () => {
  const s = new TestSpans();
  const still = run([...call(s, "prefill", 0, 16.5), ...call(s, "decode", 20, 7.5)]);
  const held = run([
    s.stop(2, 4),
    s.stop(1, 5), // around the other
    s.of(7).stop(0, 100), // another process
    s.op("MUL_MAT", 1, 10, { tensor: "ffn_gate-0", layer: 0 }),
    s.op("MUL_MAT", 10, 15, { tensor: "ffn_gate-1", layer: 1 }),
    s.op("ADD", 15, 20, { tensor: "result", layer: false }),
    s.graph(0.5, 20, 3),
    s.decode("prefill", 0, 20.5),
    ...call(s, "decode", 24, 7.5),
  ]);
  assert.deepEqual(held.operators, still.operators);
  assert.deepEqual({ ...held.time, stoppedNs: 0 }, still.time);
  assert.equal(held.firstTokenNs, still.firstTokenNs);
  assert.equal(held.time.stoppedNs, 100 * MS);
});

Deno.test("other workers are busy beside worker 0: no calls, no wall time", () => {
  const s = new TestSpans();
  const result = run([
    s.op("MUL_MAT", 1, 5, { worker: 1 }),
    s.op("MUL_MAT", 1, 6),
    s.op("MUL_MAT", 2, 6, { worker: 2 }),
    s.graph(1, 6),
    s.decode("decode", 0, 7),
  ]);
  assert.deepEqual([result.operators[0]!.calls, result.operators[0]!.totalNs, result.operators[0]!.othersNs], [1, 5 * MS, 8 * MS]);
  assert.deepEqual(result.workers.map(({ worker, busyNs }) => [worker, busyNs / MS]), [[0, 5], [1, 4], [2, 4]]);
  assert.ok(presentOperators(result).some((view) => view.type === "table" && view.columns.some(({ title }) => title === "other workers")));
});

Deno.test("how unevenly workers are loaded, by operator and by graph, where their waits were looked at", () => {
  const s = new TestSpans();
  const wait = (worker: number, start: number, end: number) => ({ ...s.op("wait", start, end, { worker }), category: "ggml.wait", name: "wait" });
  const graph = (start: number, end: number) => s.slice("ggml.graph", start, end, { nodes: 2, threads: 2 });
  const both = (name: string, start: number, end: number) => [s.op(name, start, end), s.op(name, start, end, { worker: 1 })];
  const spans = [
    // What was waited before this graph is another's, which began before the window.
    ...[wait(1, -3, -2), ...both("ROPE", -3, -1), ...both("ROPE", -1, 0), graph(-1, 0)],
    // In the first graph one works for 6 ms while the other works for 2: a half more than their mean, and in the graph a quarter.
    ...[wait(1, 2, 6), ...both("MUL_MAT", 0, 6), ...both("ADD", 6, 10), graph(0, 10)],
    ...[...both("MUL_MAT", 20, 26), ...both("ADD", 26, 30), graph(20, 30)],
    // Nobody knows what was waited in a graph that had not ended.
    ...[wait(0, 41, 42), s.op("MUL_MAT", 40, 42), { ...graph(40, 43), open: true }],
  ];
  const { operators, graphs } = run(spans, "wait");
  const uneven = (name: string) => operators.find((row) => row.name === name)!.imbalance;
  assert.deepEqual([uneven("MUL_MAT"), uneven("ADD"), graphs.imbalance], [1 / 5, 0, { mean: 1 / 8, most: 1 / 4 }]);
  const { operators: [row], graphs: unseen } = run(spans);
  assert.deepEqual([row!.imbalance, unseen.imbalance], [null, null]);
});

Deno.test("whose processor was taken inside of operators is known where threads are watched", () => {
  const s = new TestSpans();
  const taken = (tid: number, start: number, end: number, more: Partial<OffCpu> = {}): Span => {
    const off: OffCpu = { reason: "preempted", queuedNs: 0, waker: null, taker: null, from: 0, cpu: 0, migrated: false, ...more };
    return { ...s.of(100, tid).slice("sched.off", start, end), off };
  };
  const { track: thread } = s.of(100, 102).slice("sched.off", 0, 0);
  const spans = [
    // Before its first operator, and between two graphs; and somebody who computes nothing.
    taken(101, 0, 0.5),
    taken(101, 2, 3),
    taken(101, 4, 4.25),
    taken(101, 3, 3.5, { reason: "lock" }),
    taken(103, 2, 3),
    taken(102, 2, 4, { run: { thread, times: 7, ns: MS } }),
    { ...s.op("MUL_MAT", 1, 6, { worker: 1 }), tid: 102 },
    { ...s.op("MUL_MAT", 1, 6), tid: 101 },
    s.graph(1, 6),
    taken(101, 6.5, 6.75),
    s.decode("decode", 0, 7),
  ];
  const { workers } = run(spans);
  assert.deepEqual(workers.map(({ preempted }) => preempted), [{ times: 2, ns: 1.25 * MS }, { times: 7, ns: MS }]);
  const title = (result: OperatorsResult) => presentOperators(result).find((view) => view.type === "table" && view.title.startsWith("Workers"));
  assert.ok(JSON.stringify(title(run(spans))).includes("preempted"));
  const alone = run(spans.filter((span) => span.type !== "slice" || span.category !== "sched.off"));
  assert.deepEqual(alone.workers.map(({ preempted }) => preempted), [null, null]);
});

Deno.test("bytes and operations are sums of the timed calls, by phase, and unknown where that of one call is", () => {
  const s = new TestSpans();
  const asks = (bytes: number, flops?: number) => ({ tensor: "ffn_gate-0", bytes, ...(flops !== undefined && { flops }) });
  const result = run([
    s.op("MUL_MAT", 0, 4, asks(4e6, 8e6)),
    s.op("ADD", 4, 5, asks(1e3)),
    s.graph(0, 5, 2),
    s.decode("prefill", 0, 5, 2),
    // The same tensor in another graph: other sizes.
    s.op("MUL_MAT", 10, 12, asks(2e6, 1e6)),
    s.op("MUL_MAT", 12, 14, asks(2e6, 1e6)),
    s.op("ROPE", 14, 15),
    s.graph(10, 15, 3),
    s.decode("decode", 10, 15),
  ]);
  const of = (name: string) => result.operators.find((row) => row.name === name)!;
  const { bytes, flops, prefill, decode, other } = of("MUL_MAT");
  assert.deepEqual([bytes, flops], [8e6, 10e6]);
  assert.deepEqual([prefill.bytes, prefill.flops, decode.bytes, decode.flops, other.bytes, other.flops], [4e6, 8e6, 4e6, 2e6, null, null]);
  assert.deepEqual([of("ADD").bytes, of("ADD").flops, of("ROPE").bytes], [1e3, null, null]);
  const table = presentOperators(result).find((view) => view.type === "table" && view.title.startsWith("What operators ask"));
  assert.deepEqual(table!.type === "table" && table!.rows, [
    ["MUL_MAT", "prefill", 4 * MS, 1e9, 2e9, 2],
    ["MUL_MAT", "decode", 4 * MS, 1e9, 5e8, 0.5],
    ["ADD", "prefill", 1 * MS, 1e6, null, null],
  ]);
});

const oneThread: Ceilings = {
  threads: 1,
  memoryBytes: 10e9,
  cacheBytes: 100e9,
  cacheSize: 32e6,
  cachesSize: 32e6,
  flops: 100e9,
  byteOperations: 200e9,
  bf16Flops: 200e9,
};

Deno.test("what binds an operator: the ceiling that it is nearer to, of as many threads as there are workers", () => {
  const s = new TestSpans();
  const large = { cacheSize: 128e6, cachesSize: 128e6 };
  // Each computes for 10 ms, and CONT for as long as it takes to move what the graph computed, and a fourth more.
  const product = { tensor: "ffn_up-0", bytes: 81e6, cold: 80e6, flops: 200e6, quantised: true };
  const spans = [
    s.op("MUL_MAT", 0, 10, product),
    s.op("FLASH_ATTN_EXT", 10, 20, { tensor: "fa-0", bytes: 1e6, flops: 800e6 }),
    s.op("ADD", 20, 30, { tensor: "l_out-0", bytes: 1e6, flops: 1e6 }),
    s.op("CUSTOM", 30, 40, { tensor: "x-0" }),
    s.op("CONT", 40, 40.25, { tensor: "kqv-0", bytes: 20e6, flops: 0 }),
    s.graph(0, 40.25, 5),
    s.decode("decode", 0, 40.25),
  ];
  const bounds = (ceilings: readonly Ceilings[]): Record<string, unknown> => {
    const result = analyse(operators("op", ceilings), spans);
    assert.deepEqual(operatorsResultSchema.parse(result), result);
    const of = Object.fromEntries(
      result.operators.map(({ name, bound }) => [name, bound && `${bound.by} ${bound.moving.toFixed(3)} ${bound.computing.toFixed(3)}`]),
    );
    delete of["graph rest"];
    return { ...of, threads: result.ceilings?.threads };
  };
  // 80 MB at 10 GB/s take 8 ms, 1 MB more from the cache; 200 M operations on bytes 1 ms, 800 M others 8 ms.
  assert.deepEqual(bounds([oneThread]), {
    MUL_MAT: "memory 0.801 0.100",
    FLASH_ATTN_EXT: "compute 0.001 0.800",
    ADD: "neither 0.001 0.001",
    CUSTOM: null,
    CONT: "cache 0.800 0.000",
    threads: 1,
  });
  // Nobody knows what CUSTOM brings into the cache, in which the rest would stay.
  assert.deepEqual(bounds([{ ...oneThread, ...large }]), {
    MUL_MAT: null,
    FLASH_ATTN_EXT: "compute 0.001 0.800",
    ADD: "neither 0.001 0.001",
    CUSTOM: null,
    CONT: "cache 0.800 0.000",
    threads: 1,
  });
  spans.splice(3, 1);
  assert.equal(bounds([{ ...oneThread, ...large }]).MUL_MAT, "neither 0.081 0.100");
  assert.equal(bounds([{ ...oneThread, ...large, cacheBytes: 11e9 }]).MUL_MAT, "cache 0.736 0.100");
  // Four of 32 MB hold the 80 together, and two do not.
  assert.equal(bounds([{ ...oneThread, cachesSize: 128e6 }]).MUL_MAT, null);
  assert.equal(bounds([{ ...oneThread, cachesSize: 64e6 }]).MUL_MAT, "memory 0.801 0.100");
  // Of a cache that is not known nothing is told but what comes from memory.
  const { MUL_MAT, FLASH_ATTN_EXT } = bounds([{ ...oneThread, cacheBytes: null }]);
  assert.deepEqual([MUL_MAT, FLASH_ATTN_EXT, bounds([{ ...oneThread, cacheBytes: null, ...large }]).MUL_MAT], ["memory 0.800 0.100", null, null]);
  assert.deepEqual(bounds([]), { MUL_MAT: null, FLASH_ATTN_EXT: null, ADD: null, CONT: null, threads: undefined });
});

Deno.test("experts that a token uses are in the cache where all experts fit, in memory where not even these do, and in between nobody knows", () => {
  const s = new TestSpans();
  // A token reads 20 MB of experts, of 160, and 10 MB besides, at 50 GB/s.
  const experts = { tensor: "ffn_moe_up-0", layer: 0, bytes: 20e6, cold: 20e6, coldAll: 160e6, flops: 1e6 };
  const token = (at: number) => [
    s.op("MUL_MAT", at, at + 0.2, { tensor: "Qcur-1", layer: 1, bytes: 10e6, cold: 10e6, flops: 1e6 }),
    s.op("MUL_MAT_ID", at + 0.2, at + 0.6, experts),
    s.graph(at, at + 0.6, 2),
    s.decode("decode", at, at + 0.6),
  ];
  const spans = [...token(0), ...token(1)];
  const told = (size: number, cacheBytes = 60e9, memoryBytes = 50e9) => {
    const ceilings = { ...oneThread, memoryBytes, cacheBytes, cacheSize: size, cachesSize: size };
    const result = analyse(operators("op", [ceilings]), spans);
    assert.deepEqual(operatorsResultSchema.parse(result), result);
    const rows = ["MUL_MAT", "MUL_MAT_ID"].map((name) => result.operators.find((row) => row.name === name)!.bound?.by);
    return [...rows, ...result.layers.filter(({ layer }) => layer !== null).map(({ bound }) => bound?.by)];
  };
  assert.deepEqual(told(170e6), ["cache", "cache", "cache", "cache"]);
  assert.deepEqual(told(169e6), ["cache", undefined, undefined, "cache"]);
  assert.deepEqual(told(30e6), ["cache", undefined, undefined, "cache"]);
  assert.deepEqual(told(29e6), ["memory", "memory", "memory", "memory"]);
});

Deno.test("a part is in the row of its tensor, and of its layer, whatever it is called in another graph", () => {
  const s = new TestSpans();
  const sum = (from: number, to: number, tensor: string, layer: number, part?: string) =>
    s.op("ADD", from, to, { tensor, layer, ...part && { part } });
  const result = run([
    sum(0, 1, "node_71", 0, "ffn_moe_out-0"),
    sum(1, 3, "ffn_moe_out-0", 0),
    sum(3, 7, "node_72", 1, "ffn_moe_out-1"),
    s.graph(0, 7, 3),
    sum(8, 16, "node_71", 1, "ffn_moe_out-1"),
    sum(16, 32, "node_72", 1),
    s.graph(8, 32, 2),
  ]);
  const rows = result.tensors.filter(({ calls }) => calls > 0).map(({ name, totalNs }) => [name, totalNs / MS]);
  assert.deepEqual(rows.toSorted(), [["ffn_moe_out", 15], ["node", 16]]);
  assert.deepEqual(result.layers.filter(({ calls }) => calls > 0).map(({ layer, totalNs }) => [layer, totalNs / MS]), [[0, 3], [1, 28]]);
});

Deno.test("layers of several stacks have rows of their own, one stack behind the other", () => {
  const s = new TestSpans();
  const result = run([
    s.op("MUL_MAT", 0, 1, { tensor: "Qcur-0", stack: "enc" }),
    s.op("MUL_MAT", 1, 2, { tensor: "Qcur-1", layer: 1, stack: "enc" }),
    s.graph(0, 2, 2),
    s.op("MUL_MAT", 3, 4, { tensor: "Qcur-0", stack: "dec" }),
    s.op("ADD", 4, 5, { tensor: "l_out-0" }),
    s.graph(3, 5, 2),
    s.decode("decode", 3, 5),
  ]);
  assert.deepEqual(result.layers.map(({ stack, layer, calls }) => [stack, layer, calls]), [["enc", 0, 1], ["enc", 1, 1], ["dec", 0, 1], [
    null,
    0,
    1,
  ]]);
  assert.deepEqual(result.tensors.map(({ name, calls }) => [name, calls]), [["Qcur", 3], ["l_out", 1]]);
  const table = presentOperators(result).find((view) => view.type === "table" && view.title === "Layers");
  assert.deepEqual(table!.type === "table" && table!.rows.map(([layer]) => layer), ["enc 0", "enc 1", "dec 0", 0]);
});

Deno.test("what binds products of bf16 weights, which have a ceiling of their own; and none is told that is lower than what was done", () => {
  const s = new TestSpans();
  const result = analyse(operators("op", [oneThread]), [
    s.op("MUL_MAT", 0, 10, { tensor: "ffn_up-0", bytes: 1e6, flops: 1600e6, bf16: true }),
    s.op("OUT_PROD", 10, 20, { tensor: "x-0", bytes: 1e6, flops: 1600e6 }),
    s.graph(0, 20, 2),
    s.decode("decode", 0, 20),
  ]);
  const of = (name: string) => result.operators.find((row) => row.name === name)!;
  assert.deepEqual([of("MUL_MAT").bf16Flops, of("MUL_MAT").bound], [1600e6, { by: "compute", moving: 0.001, computing: 0.8 }]);
  assert.deepEqual([of("OUT_PROD").bf16Flops, of("OUT_PROD").bound], [0, null]);
});

Deno.test("two contexts of one process at once: each graph takes the operators of its own lane and phase", () => {
  const s = new TestSpans(), other = s.of(100, 101);
  const result = run([
    s.op("A", 0, 3),
    other.op("B", 1, 4, {}, false, " of graph 2"),
    other.op("B", 4, 6, {}, false, " of graph 2"),
    other.graph(1, 6, 2),
    other.decode("decode", 1, 6),
    s.op("A", 3, 10),
    s.graph(0, 10, 2),
    s.decode("prefill", 0, 10),
  ]);
  const of = (name: string) => result.operators.find((row) => row.name === name)!;
  assert.deepEqual([of("A").prefill.totalNs, of("A").decode.calls], [10 * MS, 0]);
  assert.deepEqual([of("B").decode.totalNs, of("B").prefill.calls], [5 * MS, 0]);
  assert.equal(result.time.graphsInDecodeNs, 15 * MS);
});

/** A call of that context with a graph of one operator, which takes `ms`. */
function callOf(s: TestSpans, context: number, name: string, at: number, ms: number): Span[] {
  const decode = s.decode("decode", at, at + ms);
  return [s.op(name, at, at + ms, { tensor: `${name}-${context}` }), s.graph(at, at + ms), { ...decode, args: { ...decode.args, context } }];
}

Deno.test("operators of several contexts are told for each, and together", () => {
  const s = new TestSpans();
  const outside = [s.op("C", 30, 31), s.graph(30, 31)];
  const others = s.op("A", 0, 2, { worker: 1 });
  const result = run([
    ...callOf(s, 1, "A", 0, 3),
    others,
    ...callOf(s, 2, "A", 3, 1),
    ...callOf(s, 2, "B", 4, 4),
    ...callOf(s, 1, "A", 8, 2),
    ...outside,
  ]);
  const told = result.contexts.map((
    { address, operators },
  ) => [address, operators.map(({ name, calls, totalNs, share }) => [name, calls, totalNs / MS, share])]);
  assert.deepEqual(told, [["0x1", [["A", 2, 5, 1]]], ["0x2", [["B", 1, 4, 0.8], ["A", 1, 1, 0.2]]]]);
  assert.deepEqual(result.operators.map(({ name, calls, totalNs, othersNs }) => [name, calls, totalNs / MS, othersNs / MS]), [
    ["A", 3, 6, 2],
    ["B", 1, 4, 0],
    ["C", 1, 1, 0],
  ]);
  const titles = presentOperators(result).flatMap((view) => view.type === "table" ? [view.title] : []);
  assert.deepEqual(titles.slice(0, 4), ["Contexts", "Operators", "Operators of context 0x1", "Operators of context 0x2"]);
  assert.deepEqual(run(callOf(s, 1, "A", 0, 3)).contexts.map(({ operators }) => operators), [[]]);
});

Deno.test("a context for each request: of the first ones operators are told, and of all together", () => {
  const s = new TestSpans();
  const result = run(Array.from({ length: 12 }, (_, i) => callOf(s, i + 1, "A", i, 1)).flat());
  assert.equal(result.contexts.filter(({ operators }) => operators.length > 0).length, 8);
  assert.deepEqual(result.operators.map(({ calls }) => calls), [12]);
});

Deno.test("several processes are summed, and said so", () => {
  const s = new TestSpans(), child = s.of(200);
  const a = call(s, "prefill", 0, 16.5), b = call(child, "prefill", 1, 16.5);
  const result = run(a.flatMap((span, i) => [span, b[i]!]));
  assert.equal(result.processes, 2);
  assert.equal(result.operators[0]!.calls, 4);
  assert.equal(result.time.graphNs, 31 * MS);
  assert.match(notes(result).join(), /2 processes/);
});

Deno.test("open slices count as calls, in no time", () => {
  const s = new TestSpans();
  const result = run([
    ...call(s, "prefill", 0, 16.5, 4),
    s.op("MUL_MAT", 21, 23, { tensor: "ffn_gate-0", layer: 0 }),
    s.op("MUL_MAT", 23, 24, { tensor: "ffn_gate-1", layer: 1 }, true),
    s.graph(20.5, 24, 3, true),
    s.decode("decode", 20, 24, 1, true),
    { ...s.sample(23, 24), open: true },
  ]);
  const [row] = result.operators;
  assert.deepEqual([row!.calls, row!.openCalls, row!.totalNs], [4, 2, 10 * MS]);
  assert.deepEqual([result.tokens.decodeCalls, result.tokens.decode, result.tokens.openCalls], [1, 0, 1]);
  assert.equal(result.time.graphNs, 15.5 * MS);
  assert.match(notes(result).join(), /4 slices had not ended/);
});

Deno.test("an operator whose end was lost leaves its time to the graph's rest", () => {
  const s = new TestSpans();
  const result = run([s.op("MUL_MAT", 1, 2, {}, true), s.op("ADD", 2, 6), s.graph(1, 7, 2), s.decode("decode", 0, 8)]);
  assert.equal(result.operators.find((row) => row.name === "graph rest")!.totalNs, 2 * MS);
});

Deno.test("a window that opens inside a graph: its operators are left out, calls stay nodes × graphs", () => {
  const s = new TestSpans();
  const result = run([s.op("ADD", -2, -1), s.op("ADD", -1, -0.5), ...call(s, "decode", 0, 16.5), s.op("ADD", 20, 21)]);
  assert.equal(result.unattachedCalls, 3);
  assert.equal(result.operators.reduce((sum, row) => sum + row.calls, 0), 3);
  assert.equal(result.firstTokenNs, null);
  assert.match(notes(result).join(), /3 operator calls belong to a graph that began before/);
});

Deno.test("no graph spans at all: operators stand for themselves", () => {
  const s = new TestSpans();
  const result = run([s.op("ADD", 0, 1), s.op("MUL_MAT", 1, 4), s.op("MUL_MAT", 4, 5, {}, true)]);
  assert.deepEqual(result.operators.map((row) => [row.name, row.calls, row.share]), [["MUL_MAT", 2, 0.75], ["ADD", 1, 0.25]]);
  assert.match(notes(result).join(), /ggml_graph_compute was not seen/);
});

Deno.test("graphs outside llama_decode, graphs without operators, calls that fail", () => {
  const s = new TestSpans();
  const failed = { ...s.decode("prefill", 20, 22), args: { tokens: 5, phase: "prefill", ret: 1 } };
  const result = run([s.op("ADD", 0, 4), s.graph(0, 4), s.graph(5, 6), s.decode("decode", 5, 7), failed]);
  assert.deepEqual([result.operators[0]!.other.totalNs, result.time.graphsInDecodeNs], [4 * MS, 1 * MS]);
  assert.deepEqual([result.tokens.failedCalls, result.tokens.prefill], [1, 0]);
  assert.match(notes(result).join(), /1 of 2 graphs came without operators.*failed 1 times/);
});

Deno.test("where no graph came with operators, what tells them otherwise is said, and nowhere else", () => {
  const s = new TestSpans(), graphs = [s.graph(1, 2), s.decode("decode", 0, 3)], samples = "--detail sample tells operators by their functions";
  assert.match(notes(run(graphs)).join(), new RegExp(`No graph came with operators.*; ${samples}`));
  for (const others of [run([s.op("ADD", 1, 2), ...graphs]), analyse(operators("graph"), graphs)]) assert.ok(!notes(others).join().includes(samples));
});

Deno.test("a graph in a call that was cut off or failed is in no whole one, and not outside of calls", () => {
  const s = new TestSpans(), prompt = s.decode("prefill", 0, 6, 512);
  const named = (...spans: readonly Span[]) =>
    presentOperators(run([s.op("ADD", 0, 4), s.graph(0, 4), ...spans])).flatMap((view) => view.type === "facts" ? view.facts : [])
      .flatMap(({ name, value }) => name.startsWith("graphs outside") ? [[name, value]] : []);
  assert.deepEqual(named(s.decode("prefill", 0, 6, 512, true)), [["graphs outside a whole llama_decode", 4 * MS]]);
  assert.deepEqual(named({ ...prompt, args: { ...prompt.args, ret: 1 } }), [["graphs outside a whole llama_decode", 4 * MS]]);
  assert.deepEqual(named(s.decode("decode", 5, 6)), [["graphs outside llama_decode", 4 * MS]]);
  assert.deepEqual(named(prompt), []);
});

Deno.test("less detail: no rows where operators were not looked at, no times where graphs were not, and it is said", () => {
  const s = new TestSpans();
  const spans = call(s, "decode", 0, 7.5);
  const without = (category: string) => (span: Span) => span.type !== "slice" || span.category !== category;
  const graphs = analyse(operators("graph"), spans.filter(without("ggml.op")));
  assert.deepEqual(operatorsResultSchema.parse(graphs), graphs);
  assert.deepEqual([graphs.operators, graphs.graphs.withoutOperators, graphs.time.graphNs, graphs.time.outsideGraphNs], [[], 0, 6.5 * MS, 1 * MS]);
  assert.deepEqual(notes(graphs).filter((note) => /detail|operators/.test(note)), ["Seen at --detail graph: operators were not looked at."]);
  const tokens = analyse(operators("token"), spans.filter(without("ggml.op")).filter(without("ggml.graph")));
  assert.deepEqual(operatorsResultSchema.parse(tokens), tokens);
  assert.deepEqual([tokens.time.decodeNs, tokens.time.graphNs, tokens.time.outsideGraphNs, tokens.graphs.count], [7.5 * MS, null, null, 0]);
  assert.ok(!JSON.stringify(presentOperators(tokens)).includes("No CPU graph"));
  assert.ok(!JSON.stringify(presentOperators(tokens)).includes("outside the graph"));
  assert.match(notes(analyse(operators("token"), [])).join(), /No llama_decode was seen/);
});

Deno.test("offloaded: decodes without graphs", () => {
  const s = new TestSpans();
  assert.match(notes(run([s.decode("prefill", 0, 1)])).join(), /No CPU graph/);
});

Deno.test("where no token was slow, graphs were not looked at, and nothing hides them", () => {
  const s = new TestSpans(), spans = [s.decode("decode", 0, 1), s.decode("decode", 2, 3)];
  const told = notes(analyse(operators("op", [], true), spans)).filter((note) => note.includes("graph"));
  assert.deepEqual(told, ["No graph was seen: with --slower-than they are looked at once a token was slow, and for a while."]);
  assert.match(notes(run(spans)).join(), /No CPU graph/);
});

Deno.test("nothing seen, events lost", () => {
  const s = new TestSpans();
  const result = run([
    s.mark("lost", 12),
    s.mark("undecodable"),
    s.mark("note"),
    s.counter("page faults", 1, 2),
    s.exec(0),
    s.slice("file.read", 0, 1),
  ]);
  assert.deepEqual(result.quality, { lostEvents: 12, undecodableLines: 1 });
  assert.deepEqual([result.betweenTokens, result.firstTokenNs, result.rates.decodePerSecond], [null, null, null]);
  assert.match(notes(result).join(), /12 events were lost.*1 line could.*did not infer/);
});

Deno.test("many tensors and layers are presented in bounded tables", () => {
  const s = new TestSpans();
  const ops = Array.from({ length: 30 }, (_, i) => s.op("ADD", i, i + 1, { tensor: `t${String.fromCharCode(97 + i)}-${i % 3}`, layer: i % 3 }));
  const views = presentOperators(run([...ops, s.graph(0, 30, 30), s.decode("decode", 0, 30)]));
  const tables = views.flatMap((view) => (view.type === "table" ? [[view.title, view.rows.length]] : []));
  assert.deepEqual(tables, [["Operators", 1], ["Layers", 3], ["Tensors (10 more take less)", 20]]);
});

Deno.test("what waits is bounded: operators without graphs, graphs without decodes", () => {
  const s = new TestSpans();
  const tables = new ContextTables();
  const ledger = new GraphLedger(tables, new StoppedTimes(), false, 10);
  for (let i = 0; i < 25; i++) ledger.ops(s.op("ADD", i, i + 1));
  for (let i = 30; i < 60; i++) {
    ledger.ops(s.op("ADD", i, i + 1));
    ledger.graph(s.graph(i, i + 1));
  }
  ledger.finish();
  assert.deepEqual([ledger.count, ledger.unattached], [30, 3]);
  const { operators } = tables.all().result({ graphNs: ledger.graphNs, seesWaits: false, seesEach: true, judge: () => null });
  assert.deepEqual([operators[0]!.calls, operators[0]!.totalNs], [22 + 30, 52 * MS]);
});

Deno.test("what waits is bounded: a long prompt in one call of a process that calls llama_decode may be many graphs", () => {
  const s = new TestSpans(), context = new DecodeContext(100, 1);
  const prefillNs = (isKnown: boolean) => {
    const tables = new ContextTables(), ledger = new GraphLedger(tables, new StoppedTimes(), false, 10);
    if (isKnown) ledger.calls(100);
    for (let i = 0; i < 70; i++) {
      ledger.ops(s.op("ADD", i, i + 1));
      ledger.graph(s.graph(i, i + 1));
    }
    const inside = ledger.decode(s.decode("prefill", 0, 70, 70), context);
    ledger.finish();
    assert.equal(ledger.graphNs, 70 * MS);
    return inside / MS;
  };
  assert.deepEqual([prefillNs(true), prefillNs(false)], [70, 4]);
});

Deno.test("names without end: rows have the calls of those that were forgotten, too", () => {
  const s = new TestSpans();
  const table = new OperatorTable(10);
  for (let i = 0; i < 25; i++) {
    table.add(s.op("ADD", 0, 1, { tensor: `x-${i}`, layer: i % 2 }), "decode", i * MS, 0);
    table.addOther(s.op("ADD", 0, 1, { tensor: `x-${i}`, layer: i % 2, worker: 1 }), MS, 0);
  }
  const { operators, layers, tensors } = table.result({ graphNs: 300 * MS, seesWaits: false, seesEach: true, judge: () => null });
  for (const row of [operators[0]!, tensors[0]!]) {
    assert.deepEqual([row.name, row.calls, row.totalNs, row.othersNs], [row === operators[0] ? "ADD" : "x", 25, 300 * MS, 25 * MS]);
  }
  assert.deepEqual(layers.map(({ calls, totalNs }) => [calls, totalNs]), [[13, 156 * MS], [12, 144 * MS]]);
});

Deno.test("whatever the order and overlap, rows sum to the graphs and nothing throws", () => {
  const random = seeded(3);
  for (let round = 0; round < 100; round++) {
    const s = new TestSpans();
    const spans: Span[] = [];
    for (let i = 0; i < 60; i++) {
      const who = s.of(100 + random(2), 100 + random(3));
      const start = random(100), end = start + random(30), open = random(10) === 0;
      spans.push(
        random(2) ? who.op(["ADD", "MUL_MAT"][random(2)]!, start, end, { worker: random(2) }, open) : who.graph(start, end, 1, open),
        who.decode(random(2) ? "prefill" : "decode", start, end, 1, open),
        who.stop(random(100), random(100)),
      );
    }
    run(spans);
  }
});
