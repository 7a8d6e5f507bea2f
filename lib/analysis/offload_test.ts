import assert from "node:assert/strict";
import type { Args, Placement, Slice } from "../events/span.ts";
import { analyse, TestSpans } from "../../tests/harness/spans.ts";
import { operators } from "./operators.ts";
import { presentOffload } from "./offload_present.ts";
import { presentOperators } from "./operators_present.ts";

const s = new TestSpans();

/** Nodes by their place: operator and name, whose layer is the number behind it. */
function placement(device: string, ...nodes: readonly (readonly [op: string, name: string])[]): Placement {
  const told = nodes.map(([op, name], i) => [i, { op, name, layer: /-(\d+)$/.test(name) ? Number(/-(\d+)$/.exec(name)![1]) : undefined }] as const);
  return { device, nodes: nodes.length, told: new Map(told) };
}

const split = (placed: Placement, start: number, end: number): Slice => ({ ...s.slice("ggml.split", start, end, { nodes: placed.nodes }), placed });
const copy = (name: string, tensor: string, bytes: number, start: number, end: number): Slice => {
  const args: Args = { device: name.slice(name.indexOf(" ") + 1), tensor, bytes };
  return { ...s.slice("ggml.copy", start, end, args), name };
};
const wait = (device: string, start: number, end: number) => s.slice("ggml.device_wait", start, end, { device });

const cpu = placement("CPU", ["MUL_MAT", "q-0"], ["ADD", "x-0"], ["MUL_MAT", "q-1"], ["SOFT_MAX", "kq-2"]);
const vulkan = placement("Vulkan0", ["MUL_MAT", "q-2"], ["VIEW", "v-1"], ["ADD", "x-1"], ["MUL_MAT", "result_output"]);

/** A generated token: the CPU 10 ms, a copy 1, the device asked for 2; after the call 5 ms of waiting and 1 of reading. */
const token = (at: number): Slice[] => [
  split(cpu, at, at + 10),
  s.graph(at, at + 10),
  copy("to Vulkan0", "out-1", 100, at + 10, at + 11),
  split(vulkan, at + 11, at + 13),
  s.decode("decode", at, at + 14),
  wait("Vulkan0", at + 14, at + 19),
  copy("from Vulkan0", "result_output", 40, at + 19, at + 20),
];

Deno.test("offload: layers by where their products are, time by device and kind of call, and what lies behind a call is its own", () => {
  const spans = [wait("Vulkan", 0, 1), copy("to Vulkan0", "blk.2.q.weight", 1000, 1, 2), ...token(10), ...token(40)];
  const { offload, time } = analyse(operators("graph"), spans);
  const [other, host] = offload!.devices;
  assert.deepEqual([other!.name, other!.layers, other!.output, other!.splits, other!.nodes], ["Vulkan0", [2], true, 2, 8]);
  assert.deepEqual([host!.name, host!.layers, host!.output, host!.splits, host!.nodes], ["CPU", [0, 1], false, 2, 8]);
  assert.deepEqual(other!.operators, [{ name: "MUL_MAT", nodes: 4 }, { name: "VIEW", nodes: 2 }, { name: "ADD", nodes: 2 }]);
  assert.deepEqual([other!.computed.decode, other!.waited.decode, other!.moved.decode], [
    { calls: 2, bytes: 0, ns: 4e6 },
    { calls: 2, bytes: 0, ns: 10e6 },
    { calls: 4, bytes: 280, ns: 4e6 },
  ]);
  // Before the first call, when the device had no name yet.
  assert.deepEqual([other!.waited.other.calls, other!.moved.other.bytes], [1, 1000]);
  assert.deepEqual(offload!.copies.map(({ way, device, name, calls, bytes }) => [way, device, name, calls, bytes]), [
    ["to", "Vulkan0", "blk.q.weight", 1, 1000],
    ["to", "Vulkan0", "out", 2, 200],
    ["from", "Vulkan0", "result_output", 2, 80],
  ]);
  assert.deepEqual(offload!.elsewhere, [{ operator: "ADD", device: "Vulkan0", nodes: 1 }, { operator: "SOFT_MAX", device: "CPU", nodes: 1 }]);
  assert.equal(offload!.untoldNodes, 0);
  assert.deepEqual([time.graphsInDecodeNs, time.devicesInDecodeNs, time.outsideGraphNs], [20e6, 6e6, 2e6]);
  // 26 ms between the calls, of which six are explained.
  assert.equal(time.betweenUnknownNs, 10e6);
});

Deno.test("offload: layers are those of generated tokens, and nodes that were not told of are counted", () => {
  const prompt = placement("Vulkan0", ["MUL_MAT", "q-0"], ["MUL_MAT", "q-0"], ["MUL_MAT", "q-0"]);
  const untold = { ...placement("Vulkan0"), nodes: 5 };
  const spans = [split(prompt, 0, 5), s.decode("prefill", 0, 6, 64), split(untold, 7, 8), ...token(10)];
  const { offload } = analyse(operators("graph"), spans);
  assert.deepEqual(offload!.devices.map(({ name, layers }) => [name, layers]), [["Vulkan0", [2]], ["CPU", [0, 1]]]);
  assert.equal(offload!.untoldNodes, 5);
});

const texts = (spans: readonly Slice[]) => {
  const result = analyse(operators("graph"), spans);
  const views = presentOffload(result.offload!, result);
  return views.flatMap((view) => view.type === "note" ? [view.text] : view.type === "table" ? [view.title] : []).join("\n");
};

Deno.test("offload: a cache that is put back between two calls, and a model that is loaded there, are no token's", () => {
  for (const [tensor, said] of [["cache_k_l2 (view)", /-nkvo/], ["blk.0.q.weight", /weights were copied/]] as const) {
    const spans = [...token(10), copy("to Vulkan0", tensor, 1e9, 31, 33), wait("Vulkan0", 33, 34), ...token(40)];
    const { copies, devices } = analyse(operators("graph"), spans).offload!, { waited } = devices.find(({ name }) => name === "Vulkan0")!;
    assert.deepEqual(copies.filter(({ bytes }) => bytes === 1e9).map(({ other, decode }) => [other.bytes, decode.bytes]), [[1e9, 0]]);
    assert.deepEqual([waited.decode.ns, waited.other.ns], [10e6, 1e6]);
    assert.doesNotMatch(texts(spans), said);
  }
  // A saved one is read.
  const saved = analyse(operators("graph"), [...token(10), copy("from Vulkan0", "cache_v_l0", 700, 31, 33)]).offload!;
  assert.deepEqual(saved.devices.map(({ name, moved }) => [name, moved.decode.bytes, moved.other.bytes]), [["CPU", 0, 0], ["Vulkan0", 140, 700]]);
});

Deno.test("offload: what is computed between two calls, as pictures are, is no token's either", () => {
  const picture = placement("Vulkan0", ["MUL_MAT", "v-2"]);
  const spans = [...token(10), split(picture, 31, 33), wait("Vulkan0", 33, 38), ...token(40)];
  const device = analyse(operators("graph"), spans).offload!.devices.find(({ name }) => name === "Vulkan0");
  assert.deepEqual([device!.computed.decode.ns, device!.waited.decode.ns, device!.computed.other.ns], [4e6, 10e6, 2e6]);
});

Deno.test("offload: where two contexts compute at once, each call has what its own thread did, whichever ends first", () => {
  const beside = s.of(100, 101), reader = s.of(100, 102);
  const read = (of: TestSpans, start: number, end: number): Slice => ({
    ...copy("from Vulkan0", "result_output", 8, start, end),
    track: of.exit(0).track,
  });
  const spans = [
    split(vulkan, 1, 2),
    read(s, 2, 2.25),
    beside.decode("prefill", 2.5, 5),
    read(reader, 5.25, 5.75),
    split(vulkan, 6, 9),
    s.decode("decode", 0, 10),
    read(reader, 11, 13),
    beside.decode("prefill", 14, 15),
  ];
  const { offload, time } = analyse(operators("graph"), spans);
  const [device] = offload!.devices;
  assert.deepEqual([time.devicesInDecodeNs, device!.computed.decode.ns, device!.computed.other.ns], [4.25e6, 4e6, 0]);
  assert.deepEqual([device!.moved.decode.ns, device!.moved.prefill.ns, device!.moved.other.ns], [2.25e6, 0.5e6, 0]);
});

Deno.test("offload: a token's time is that of calls that only generate", () => {
  const mixed = [split(vulkan, 71, 75), { ...s.decode("prefill", 70, 80, 64), args: { ...s.decode("prefill", 70, 80, 64).args, generated: 8 } }];
  const shown = (spans: readonly Slice[]) => {
    const result = analyse(operators("graph"), spans);
    const [table] = presentOffload(result.offload!, result);
    return [result.tokens.besidePrompts, table?.type === "table" && [table.title, table.rows.find(([name]) => name === "Vulkan0")!.slice(4)]];
  };
  assert.deepEqual(shown([...token(10), ...token(40)])[1], ["Devices, and time for each generated token", [2e6, 5e6, 2e6]]);
  assert.deepEqual(shown([...token(10), ...token(40), ...mixed]), [8, ["Devices, and time for each generated token", [2e6, 5e6, 2e6]]]);
  assert.deepEqual(shown(mixed), [8, ["Devices", [4e6, 0, 0]]]);
});

Deno.test("offload: none without parts of graphs, and a call that is in none has no phase", () => {
  assert.equal(analyse(operators("graph"), [s.graph(0, 1)]).offload, null);
  const result = analyse(operators("graph"), [split(cpu, 0, 10), split(cpu, 20, 25)]);
  assert.deepEqual(result.offload!.devices.map(({ computed }) => [computed.other.calls, computed.decode.calls]), [[2, 0]]);
  // Without tokens to share them: all times.
  const [table] = presentOffload(result.offload!, result);
  assert.deepEqual(table?.type === "table" && [table.title, ...table.rows], ["Devices", ["CPU", "0–1", 2, 8, 15e6, 0, 0]]);
});

const said = (spans: readonly Slice[]) => {
  const result = analyse(operators("graph"), spans);
  return presentOffload(result.offload!, result).flatMap((view) => view.type === "note" ? [view.text] : []);
};

Deno.test("offload: a copy that a call only asks for, or that waits for what is computed, has a time and no rate", () => {
  const asked = copy("from Vulkan0", "result_output", 600_000, 25, 25.005), late = copy("from Vulkan0", "result_embd", 2000, 26, 28);
  const named = (slice: Slice, time: string): Slice => ({ ...slice, args: { ...slice.args, time } });
  const result = analyse(operators("graph"), [...token(10), named(asked, "asking"), named(late, "computing, too")]);
  const tables = presentOffload(result.offload!, result);
  const copied = tables.flatMap((view) => view.type === "table" && view.title === "Copied" ? view.rows : []);
  assert.deepEqual(copied.map((row) => [row[0], ...row.slice(-3)]), [
    ["result_output", 5000, "asking", null],
    ["result_embd", 2e6, "computing, too", null],
    ["out", 1e6, "copying", 100_000],
    ["result_output", 1e6, "copying", 40_000],
  ]);
});

Deno.test("offload: a device is one, whether or not its number was known yet", () => {
  const early = { ...vulkan, device: "Vulkan" };
  const copied = copy("to Vulkan", "out-1", 7, 0.5, 0.6);
  const { offload } = analyse(operators("graph"), [split(early, 0, 0.5), copied, s.decode("decode", 0, 2), ...token(10)]);
  assert.deepEqual(offload!.devices.map(({ name, layers, splits }) => [name, layers, splits]), [["CPU", [0, 1], 1], ["Vulkan0", [2], 2]]);
  assert.deepEqual(offload!.copies.map(({ device, name, bytes }) => [device, name, bytes]), [["Vulkan0", "out", 107], [
    "Vulkan0",
    "result_output",
    40,
  ]]);
});

Deno.test("offload: where a layer takes less time is told as what to do", () => {
  // Two layers in 10 ms, and two (one the output) in 9.
  assert.deepEqual(said(token(10)).slice(0, 2), [
    "CPU computes for layers that are elsewhere, in each graph: 1 SOFT_MAX.",
    "Vulkan0 computes for layers that are elsewhere, in each graph: 1 ADD.",
  ]);
  assert.deepEqual(said(token(10)).at(-1), "A layer takes Vulkan0 about as long as the CPU: moving layers (-ngl) changes little.");
  const slow = split(cpu, 30, 70), late = wait("Vulkan0", 30, 70), end = s.decode("decode", 30, 71);
  assert.match(said([...token(10), slow, end]).at(-1)!, /^A layer takes the CPU 5\.6 times as long as Vulkan0: offload more than 2,/);
  assert.match(said([...token(10), late, end]).at(-1)!, /^A layer takes Vulkan0 4\.9 times as long as the CPU: offload fewer than 2 \(-ngl\)/);
  assert.deepEqual(said([split(cpu, 0, 1), s.decode("decode", 0, 2)]).filter((text) => text.includes("-ngl")), [
    "No layer was computed by another device than the CPU. Where this build knows a GPU that is here, llama.cpp moves layers there with -ngl.",
  ]);
});

Deno.test("offload: where a build shows no part of a graph, the CPU's neither, nobody is told that no layer is on a device", () => {
  const loaded = copy("to SYCL", "blk.0.q.weight", 1000, 0, 1);
  assert.deepEqual(said([loaded, s.decode("decode", 2, 4), copy("from SYCL", "result_output", 40, 4, 5)]), [
    "Which device computes what is not to be seen: this build's scheduler, as clang and icx make it, calls nothing to probe. How many layers " +
    "are on a GPU (-ngl) llama.cpp says as it loads the model.",
  ]);
  // Nothing was computed yet.
  assert.doesNotMatch(said([loaded]).join(), /not to be seen/);
});

Deno.test("offload: where the CPU keeps the experts of a device's layers, their time says nothing of its own layers", () => {
  const experts = placement("CPU", ["MUL_MAT_ID", "ffn_moe_up-2"]);
  const most = placement("Vulkan0", ["MUL_MAT", "q-2"], ["MUL_MAT", "k-2"], ["MUL_MAT", "result_output"]);
  const told = said([split(cpu, 0, 1), split(most, 1, 2), split(experts, 2, 40), s.decode("decode", 0, 41)]);
  assert.match(told.at(-1)!, /^The CPU multiplies weights of layers that are on another device \(--n-cpu-moe, -ot\)/);
});

Deno.test("offload: a cache that is copied to a device for each token is in the host's memory", () => {
  const cached = (at: number) => ["k", "v"].map((kind) => copy("to Vulkan0", `cache_${kind}_l2 (view)`, 1_000_000, at + 11, at + 12));
  const told = said([10, 40].flatMap((at) => [...cached(at), ...token(at)])).at(-1)!;
  assert.equal(told, "2.0 MB of keys and values are copied to Vulkan0 for each token: their cache is in the host's memory (-nkvo).");
});

Deno.test("offload: BLAS is the CPU: it keeps no layer from it, and nothing goes on behind a call", () => {
  const blas = placement("BLAS", ["MUL_MAT", "q-0"], ["MUL_MAT", "q-1"], ["MUL_MAT", "result_output"]);
  const rest = placement("CPU", ["ADD", "x-0"]);
  const result = analyse(operators("graph"), [split(blas, 0, 5), split(rest, 5, 6), s.decode("prefill", 0, 7, 64)]);
  assert.deepEqual(result.offload!.devices.map(({ name, layers, output }) => [name, layers, output]), [["BLAS", [], false], ["CPU", [0, 1], true]]);
  const views = JSON.stringify(presentOperators(result));
  assert.match(views, /No layer was computed by another device than the CPU/);
  assert.match(views, /Products of prompts are computed by BLAS/);
  assert.doesNotMatch(views, /which returns while devices compute|elsewhere, in each graph/);
});

Deno.test("offload: weights that are copied for a prompt are a warning, those of a model that is loaded are not", () => {
  const weights = copy("to Vulkan0", "blk.0.q.weight", 3_000_000, 1, 2);
  assert.deepEqual(said([weights, ...token(10)]).filter((text) => text.includes("weights")), []);
  const prompt = s.decode("prefill", 0, 5, 64);
  assert.match(said([weights, prompt, ...token(10)]).join(), /3\.0 MB of weights were copied to a device while it computed/);
});

Deno.test("offload: a model that is on a device whole is not taken for one whose library hides its functions", () => {
  const all = placement("Vulkan0", ["MUL_MAT", "q-0"]);
  const views = presentOperators(analyse(operators("graph"), [split(all, 0, 10), s.decode("decode", 0, 12)]));
  const notes = views.flatMap((view) => view.type === "note" ? [view.text] : []).join("\n");
  assert.doesNotMatch(notes, /hides its functions/);
});
