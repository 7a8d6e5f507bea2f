import assert from "node:assert/strict";
import { usesGpuFile } from "../../tests/harness/gpu_file_use.ts";
import type { GpuCall } from "../events/gpu.ts";
import type { Span } from "../events/span.ts";
import { Tracks } from "../events/tracks.ts";
import { gpu } from "./gpu.ts";
import { presentGpu } from "./gpu_present.ts";
import { gpuResultSchema } from "./gpu_schema.ts";

const tracks = new Tracks();
const track = tracks.thread(7, 7);
const call = (name: string, start: number, end: number, what: Partial<GpuCall>): Span => ({
  type: "slice",
  track,
  name,
  category: `gpu.${what.family ?? "cuda"}`,
  start,
  end,
  gpu: { family: "cuda", kind: "copy", result: 0, failure: null, ...what },
});

function explain(spans: readonly Span[]) {
  const analysis = gpu();
  for (const span of spans) analysis.span(span);
  const result = analysis.result();
  assert.deepEqual(gpuResultSchema.parse(result), result);
  presentGpu(result);
  return result;
}

Deno.test("gpu: a call that makes another of its kind is one copy, and its bytes count once; in the table of functions each stands", () => {
  const { copies, totals, functions } = explain([
    call("cuMemcpyHtoDAsync", 20, 80, { bytes: 1000, direction: "host to device" }),
    call("cudaMemcpyAsync", 10, 100, { family: "cudart", bytes: 1000, direction: "host to device" }),
    call("cudaMemcpyAsync", 110, 150, { family: "cudart", bytes: 24, direction: "host to device" }),
    call("cuMemcpyHtoDAsync", 160, 161, { bytes: 8, direction: "host to device", result: 1, failure: "invalid value (1)" }),
  ]);
  assert.deepEqual(copies, [{ direction: "host to device", copies: 2, bytes: 1024, ns: 130, waitedBytes: 0, waitedNs: 0 }]);
  assert.deepEqual([totals.calls, totals.failed, totals.totalNs], [4, 1, 90 + 40 + 1]);
  assert.deepEqual(functions.map(({ name, calls, failed, totalNs }) => [name, calls, failed, totalNs]), [
    ["cudaMemcpyAsync", 2, 0, 130],
    ["cuMemcpyHtoDAsync", 2, 1, 61],
  ]);
});

Deno.test("gpu: a copy's rate is that of calls that return when it is done", () => {
  const { copies } = explain([
    call("cudaMemcpyAsync", 0, 1, { family: "cudart", bytes: 1e9, direction: "host to device" }),
    call("cuMemcpyHtoD", 20, 70, { bytes: 4000, direction: "host to device", isWaited: true }),
    call("cudaMemcpy", 10, 90, { family: "cudart", bytes: 4000, direction: "host to device", isWaited: true }),
    call("cudaMemcpy", 100, 110, { family: "cudart", bytes: 5000, direction: "on the device" }),
  ]);
  assert.deepEqual(copies.map(({ copies, bytes, waitedBytes, waitedNs }) => [copies, bytes, waitedBytes, waitedNs]), [[2, 1e9 + 4000, 4000, 80], [
    1,
    5000,
    0,
    0,
  ]]);
});

Deno.test("gpu: who waits for the GPU in a copy, or asks it again and again, is told of as that", () => {
  const wait = (start: number, name: string, what: Partial<GpuCall>) => call(name, start, start + 10, { kind: "copy", isWaited: true, ...what });
  const spans = [
    call("cuStreamSynchronize", 0, 5, { kind: "sync" }),
    wait(10, "cuMemcpyDtoH", { direction: "device to host" }),
    wait(20, "cuMemcpyHtoD", { direction: "host to device" }),
    wait(30, "cuMemcpy", { direction: "on the host" }),
    wait(40, "cuMemcpyDtoHAsync", { direction: "device to host", isWaited: false }),
    call("cuEventQuery", 51, 52, { kind: "poll", result: 600 }),
    call("cudaEventQuery", 50, 53, { family: "cudart", kind: "poll", result: 600 }),
    call("cuEventQuery", 54, 55, { kind: "poll" }),
  ];
  const { syncs, syncNs, waitedCopies, waitedCopiesNs, polls, pollNs } = explain(spans).totals;
  assert.deepEqual([syncs, syncNs, waitedCopies, waitedCopiesNs, polls, pollNs], [1, 5, 2, 20, 2, 4]);
  const shown = (spans: readonly Span[]) => JSON.stringify(presentGpu(explain(spans)));
  assert.match(
    shown(spans),
    /"waiting for it in copies","value":20,"unit":"ns","note":"2 times[^"]*".*"asking whether it is done","value":4,"unit":"ns","note":"2 times/,
  );
  assert.doesNotMatch(shown(spans.slice(0, 1)), /waiting for it in copies|asking whether it is done/);
});

Deno.test("gpu: a call that has not returned is no call yet; one that lasts long is told of", () => {
  const open = (name: string, start: number, thread = track): Span => (
    { type: "slice", track: thread, name, category: "gpu.unfinished", start, end: 5e9, args: { library: "cuda" } }
  );
  const spans = [open("cuEventSynchronize", 4.999e9), open("cuStreamSynchronize", 4e9), open("cuStreamSynchronize", 3e9, tracks.thread(7, 9))];
  const { unfinished, totals, quality } = explain(spans);
  assert.deepEqual(unfinished, [
    { family: "cuda", name: "cuStreamSynchronize", calls: 2, longestNs: 2e9, pid: 7, tid: 9 },
    { family: "cuda", name: "cuEventSynchronize", calls: 1, longestNs: 1e6, pid: 7, tid: 7 },
  ]);
  assert.deepEqual([totals.calls, quality.unknownCalls], [0, 0]);
  const said = (shown: readonly Span[]) => presentGpu(explain(shown)).flatMap((view) => view.type === "note" ? [view.text] : []).join(" ");
  assert.match(said(spans), /cuStreamSynchronize had not returned after 2.00 s \(thread 9\)/);
  assert.doesNotMatch(said(spans.slice(0, 1)), /not returned/);
});

Deno.test("gpu: what is launched while a collective call lasts is launched all the same; one that makes another is one", () => {
  const { totals, collectives, kernels } = explain([
    call("cuLaunchKernel", 20, 30, { kind: "launch", kernel: "ring" }),
    call("ncclAllReduce", 10, 40, { family: "nccl", kind: "collective", bytes: 64 }),
    call("cuLaunchKernel", 50, 60, { kind: "launch", kernel: "ring", isCaptured: true }),
    call("ncclBroadcast", 71, 79, { family: "nccl", kind: "collective", bytes: 8 }),
    call("ncclBcast", 70, 80, { family: "nccl", kind: "collective", bytes: 8 }),
  ]);
  assert.deepEqual([totals.launches, totals.captured], [1, 1]);
  assert.deepEqual(collectives, [{ name: "ncclAllReduce", calls: 1, bytes: 64, ns: 30 }, { name: "ncclBcast", calls: 1, bytes: 8, ns: 10 }]);
  assert.deepEqual(kernels, [{ name: "ring", launches: 1, captured: 1, inGraphs: 0 }]);
});

Deno.test("gpu: what a graph does counts each time that it is launched, and what is recorded into one does not", () => {
  const graph = {
    kernels: new Map([["rope", 2], ["norm", 1]]),
    copies: new Map([["on the device" as const, { times: 3, bytes: 96 }]]),
    collectives: new Map([["ncclAllReduce", { times: 2, bytes: 128 }]]),
  };
  const launch = (start: number) => [
    call("cuGraphLaunch", start + 1, start + 2, { kind: "graphLaunch", graph }),
    call("cudaGraphLaunch", start, start + 3, { family: "cudart", kind: "graphLaunch", graph }),
  ];
  const { totals, kernels, copies, collectives } = explain([
    call("ncclAllReduce", 0, 1, { family: "nccl", kind: "collective", bytes: 64 }),
    call("ncclAllReduce", 1, 2, { family: "nccl", kind: "collective", bytes: 64, isCaptured: true }),
    call("cuLaunchKernel", 1, 2, { kind: "launch", kernel: "rope" }),
    call("cuLaunchKernel", 3, 4, { kind: "launch", kernel: "rope", isCaptured: true }),
    call("cuMemcpyDtoDAsync", 5, 6, { kind: "copy", direction: "on the device", bytes: 32, isCaptured: true }),
    call("cuGraphLaunch", 7, 8, { kind: "graphLaunch", isCaptured: true }),
    call("cudaGraphLaunch", 7, 9, { family: "cudart", kind: "graphLaunch", isCaptured: true }),
    ...launch(10),
    ...launch(20),
  ]);
  assert.deepEqual([totals.launches, totals.captured, totals.graphLaunches, totals.graphKernels, totals.unknownGraphs], [1, 1, 2, 6, 0]);
  assert.equal(totals.capturedGraphs, 1);
  assert.deepEqual(kernels, [
    { name: "rope", launches: 1, captured: 1, inGraphs: 4 },
    { name: "norm", launches: 0, captured: 0, inGraphs: 2 },
  ]);
  assert.deepEqual(copies, [{ direction: "on the device, by graphs", copies: 6, bytes: 192, ns: 0, waitedBytes: 0, waitedNs: 0 }]);
  assert.deepEqual(collectives, [
    { name: "ncclAllReduce", calls: 1, bytes: 64, ns: 1 },
    { name: "ncclAllReduce, by graphs", calls: 4, bytes: 256, ns: 0 },
  ]);
});

Deno.test("gpu: what a graph runs that was made before is not known, and that is said", () => {
  const unknown = [
    call("cuGraphLaunch", 11, 12, { kind: "graphLaunch" }),
    call("cudaGraphLaunch", 10, 13, { family: "cudart", kind: "graphLaunch" }),
  ];
  const known = call("cuGraphLaunch", 20, 21, {
    kind: "graphLaunch",
    graph: { kernels: new Map([["rope", 2]]), copies: new Map(), collectives: new Map() },
  });
  const said = (spans: readonly Span[]) => JSON.stringify(presentGpu(explain(spans)));
  assert.equal(explain([...unknown, known]).totals.unknownGraphs, 1);
  assert.match(said([...unknown, known]), /1 of the graphs that were launched had been made before,.*: .*they ran at least 2 kernels/);
  assert.match(said(unknown), /Graphs that were launched had been made before/);
  assert.doesNotMatch(said([known]), /made before|at least/);
});

Deno.test("gpu: memory by GPU and kind: its peak, how long it was held, and what nobody let go, by who asked", () => {
  const held = { bytes: 300, memory: "device", device: 0, stack: 1, heldNs: 70, hasExited: true };
  const at = { track: tracks.lane(7, "x"), name: "", args: {} };
  const { memory, held: never } = explain([
    call("cuMemAlloc", 0, 1, { kind: "alloc", memory: "device", device: 0, bytes: 100 }),
    call("cuMemAlloc", 2, 3, { kind: "alloc", memory: "device", device: 0, bytes: 300 }),
    call("cudaMalloc", 1, 4, { family: "cudart", kind: "alloc", memory: "device", device: 0, bytes: 300, isRepeat: true }),
    call("cuMemFree", 10, 11, { kind: "free", memory: "device", device: 0, bytes: 100, heldNs: 10 }),
    call("cuMemAlloc", 12, 13, { kind: "alloc", memory: "device", device: 0, bytes: 50, result: 2, failure: "out of memory (2)" }),
    call("cuMemAllocHost", 14, 15, { kind: "alloc", memory: "host", device: -1, bytes: 7 }),
    { ...at, type: "instant", category: "gpu.held", at: 80, held },
    { ...at, type: "instant", category: "gpu.stack", at: 80, stack: { id: 1, frames: ["cuMemAlloc (libcuda.so.1)", "forget (app)"] } },
  ]);
  const [device, host] = memory;
  assert.deepEqual([device!.allocations, device!.peakBytes, device!.frees, device!.freedBytes, device!.heldMaxNs], [2, 400, 1, 100, 10]);
  assert.deepEqual([host!.device, host!.allocatedBytes], [null, 7]);
  assert.deepEqual(never, [{
    pid: 7,
    device: 0,
    memory: "device",
    exited: true,
    blocks: 1,
    bytes: 300,
    longestNs: 70,
    frames: ["cuMemAlloc (libcuda.so.1)", "forget (app)"],
  }]);
});

const decode = (phase: string): Span => (
  { type: "slice", track, name: "llama_decode", category: "llama.decode", start: 0, end: 100, args: { phase, tokens: 1 } }
);

Deno.test("gpu: for each token, what was asked since the call before: neither what loads a model, nor what a prompt asks", () => {
  const load = call("cuMemcpyHtoD", 1, 9, { bytes: 4096, direction: "host to device" });
  const { perToken } = explain([
    load,
    decode("prefill"),
    ...[10, 20, 30].map((start) => call("cuLaunchKernel", start, start + 5, { kind: "launch" })),
    decode("decode"),
    call("cuMemcpyDtoH", 40, 50, { bytes: 512, direction: "device to host" }),
    decode("decode"),
    load,
    decode("prefill"),
  ]);
  assert.deepEqual(perToken, { tokens: 2, callsNs: 12.5, launches: 1.5, kernels: 1.5, copies: 0.5, copiedBytes: 256, allocations: 0, syncNs: 0 });
  assert.equal(explain([decode("decode")]).perToken, null);
});

Deno.test("gpu: what a token asks whose beginning nobody watched, in another life or turn, is not known, and it is not counted", () => {
  let at = 0;
  const launches = (times: number) => Array.from({ length: times }, () => call("cuLaunchKernel", at++, at, { kind: "launch" }));
  const ended: Span = { type: "mark", at: 200, kind: "ended", stream: "host", text: "" };
  const token = decode("decode");
  const { perToken } = explain([token, ...launches(1), token, ...launches(10), ended, ...launches(3), token, ...launches(2), token]);
  assert.deepEqual([perToken!.tokens, perToken!.launches], [2, 1.5]);
  assert.equal(explain([token, ended, ...launches(3), token, ended]).perToken, null);
});

Deno.test("gpu: what threads take together may be longer than anybody watched, and says so", () => {
  const window = (at: number): Span => ({ type: "mark", at, kind: "window", stream: "cuda", text: "", open: at === 0 });
  const wait = call("cuCtxSynchronize", 0, 60, { kind: "sync" }), other = { ...wait, track: tracks.thread(7, 8) } as Span;
  const notes = (...spans: readonly Span[]) => {
    const facts = presentGpu(explain([window(0), ...spans, window(100)])).flatMap((view) => view.type === "facts" ? view.facts : []);
    return facts.flatMap(({ name, note }) => name === "in calls" || name === "waiting for the GPU" ? [note] : []);
  };
  assert.deepEqual([notes(wait), notes(wait, other)], [["", "1 time"], ["threads added", "2 times, threads added"]]);
});

Deno.test("gpu: the target waits for others where what it asks takes longer while they ask", () => {
  const use = (pid: number, start: number, end: number, command = "F 0x2a"): Span => usesGpuFile(tracks, pid, start, end, { command });
  const at = (second: number) => second * 1e9;
  const alone = Array.from({ length: 10 }, (_, i) => use(7, at(i), at(i) + 1000));
  const both = (ns: number) =>
    Array.from({ length: 10 }, (_, i) => [use(9, at(20 + i / 100), at(20 + i / 100) + 5e6), use(7, at(20.001 + i / 100), at(20.001 + i / 100) + ns)])
      .flat();
  assert.equal(explain(alone).contention, null);
  const waiting = explain([...alone, ...both(4000)]).contention!;
  assert.deepEqual([waiting.waits, waiting.others, waiting.slower!.toFixed(9)], [true, [{ pid: 9, name: "other" }], "4.000000000"]);
  assert.equal(Math.round(waiting.waitedNs), 30_000);
  assert.equal(explain([...alone, ...both(1000)]).contention!.waits, false);
  // Of two minutes 30 µs are nothing.
  const window = (second: number): Span => ({ type: "mark", at: at(second), kind: "window", stream: "cuda", text: "", open: second === 0 });
  assert.equal(explain([window(0), ...alone, ...both(4000), window(120)]).contention!.waits, false);
  assert.equal(explain([window(0), ...alone, ...both(2e6), window(120)]).contention!.waits, true);
  // A command that takes long for everybody, and was asked only while another was there.
  const slow = Array.from({ length: 10 }, (_, i) => use(7, at(20.002 + i / 100), at(20.002 + i / 100) + 1e6, "F 0x20"));
  assert.equal(explain([...alone, ...both(1000), ...slow]).contention!.waits, false);
  // The same on another GPU.
  const elsewhere = both(4000).map((span) =>
    span.type === "slice" && span.file!.pid === 9 ? { ...span, file: { ...span.file!, device: "nvidia1" } } : span
  );
  const { contention, files } = explain([...alone, ...elsewhere]);
  assert.deepEqual([contention, files.map(({ device }) => device)], [null, ["nvidia0", "nvidia1"]]);
});

Deno.test("gpu: the runtime's wait and the driver's within it are waited for once", () => {
  const other = (start: number) => usesGpuFile(tracks, 9, start, start + 5e6);
  const waits = (start: number, ns: number) => [
    call("cuStreamSynchronize", start + 10, start + ns - 10, { kind: "sync" }),
    call("cudaStreamSynchronize", start, start + ns, { family: "cudart", kind: "sync" }),
  ];
  const times = Array.from({ length: 10 }, (_, i) => i * 1e9);
  const { contention } = explain([
    ...times.flatMap((at) => waits(at, 1000)),
    ...times.flatMap((at) => [other(20e9 + at), ...waits(20e9 + at + 1e6, 4000)]),
  ]);
  assert.deepEqual([contention!.shared.calls, contention!.alone.calls, Math.round(contention!.waitedNs)], [10, 10, 30_000]);
});
