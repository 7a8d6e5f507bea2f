import assert from "node:assert/strict";
import { analyse, TestSpans } from "../../tests/harness/spans.ts";
import type { GpuCall } from "../events/gpu.ts";
import type { Slice, Span } from "../events/span.ts";
import { gpu } from "./gpu.ts";
import { presentGpu } from "./gpu_present.ts";

const spans = new TestSpans();

function call(name: string, start: number, end: number, what: Partial<GpuCall>, address = "0xa000"): Slice {
  const family = name.startsWith("cuda") ? "cudart" : "cuda";
  return { ...spans.slice(`gpu.${family}`, start, end, { address }), name, gpu: { family, kind: "free", result: 0, failure: null, ...what } };
}

const known = { memory: "device", device: 0, bytes: 64 };
const held = [call("cuMemAlloc", 11, 12, { ...known, kind: "alloc" }), call("cuMemFree", 14, 15, { ...known, heldNs: 2e6 })];
const twin = call("cudaFree", 13, 16, {});
const explain = (...given: readonly Span[]) => analyse(gpu(), given);
const said = (...given: readonly Span[]) => JSON.stringify(presentGpu(explain(...given)));

Deno.test("gpu memory: of a process that ran before, it is what was asked for since; one that was seen to begin has no other", () => {
  assert.deepEqual(explain(...held, twin).memoryBefore, { processes: 1, frees: 0 });
  assert.match(said(...held), /What a process held before llmprof came .*"Memory that was asked for while llmprof watched"/);
  for (const begins of [spans.exec(0), spans.of(1).fork(0, spans.pid)]) {
    assert.deepEqual(explain(begins, ...held, twin).memoryBefore, { processes: 0, frees: 0 });
    assert.doesNotMatch(said(begins, ...held), /llmprof/);
  }
  assert.equal(explain(spans.exec(0), spans.mark("ended"), ...held).memoryBefore.processes, 1, "nobody watched in between");
});

Deno.test("gpu memory: what is let go and was not seen to be asked for is counted, once, and takes nothing from what is held", () => {
  const unknown = (at: number) => [call("cuMemFree", at + 1, at + 2, {}), call("cudaFree", at, at + 3, {})];
  const given = [...unknown(1), ...held, twin, ...unknown(20), call("cuMemFree", 30, 31, { result: 1, failure: "invalid value (1)" })];
  const { memoryBefore, memory: [device] } = explain(...given);
  assert.deepEqual(memoryBefore, { processes: 1, frees: 2 });
  assert.deepEqual([device!.allocations, device!.frees, device!.freedBytes, device!.peakBytes], [1, 1, 64, 64]);
  assert.match(said(...given), /2 times memory was let go of which nobody saw/);
  assert.deepEqual(explain(call("cuMemFreeAsync", 1, 2, { isCaptured: true })).memoryBefore, { processes: 0, frees: 0 }, "a part of a graph");
  // Nothing is let go, and what a handle is of may be mapped.
  assert.equal(explain(call("cudaFree", 1, 2, {}, "0x0"), call("cuMemRelease", 3, 4, {})).memoryBefore.frees, 0);
});

Deno.test("gpu memory: each process has its own, on devices that several call GPU 0: its peak, and what it never freed", () => {
  const others = [200, 300].map((pid) => spans.of(pid));
  const of = (other: TestSpans, slice: Slice): Slice => ({ ...slice, track: other.tracks.thread(other.pid, other.pid) });
  const left = (other: TestSpans, bytes: number): Span => {
    const { track, at } = other.exit(90), held = { bytes, memory: "device", device: 0, stack: undefined, heldNs: 1, hasExited: true };
    return { type: "instant", category: "gpu.held", name: "", track, at, held };
  };
  const given = others.flatMap((other, i) => [
    of(other, call("cuMemAlloc", 10 * i + 1, 10 * i + 2, { ...known, kind: "alloc" })),
    of(other, call("cuMemAlloc", 10 * i + 3, 10 * i + 4, { ...known, bytes: 100 + i, kind: "alloc" })),
    of(other, call("cuMemFree", 10 * i + 5, 10 * i + 6, { ...known, heldNs: 2e6 })),
    left(other, 100 + i),
  ]);
  const { memory, held: never } = explain(...given);
  assert.deepEqual(memory.map(({ pid, device, allocations, peakBytes }) => [pid, device, allocations, peakBytes]), [[300, 0, 2, 165], [
    200,
    0,
    2,
    164,
  ]]);
  assert.deepEqual(never.map(({ pid, blocks, bytes }) => [pid, blocks, bytes]), [[300, 1, 101], [200, 1, 100]]);
  const tables = (...given: readonly Span[]) =>
    presentGpu(explain(...given)).flatMap((view) => view.type === "table" && /^(Memory|Held)/.test(view.title) ? [view] : []);
  assert.deepEqual(tables(...given).map(({ columns, rows }) => [columns[0]!.title, rows.map(([pid]) => pid)]), [
    ["process", ["300", "200"]],
    ["process", ["300", "200"]],
  ]);
  assert.ok(tables(...held, left(spans, 7)).every(({ columns }) => columns[0]!.title === "of"), "there is one process");
});

Deno.test("gpu memory: what is of unknown size is counted, and is no figure of bytes", () => {
  const array = { memory: "array", device: 0 };
  const given = [
    ...held,
    call("cudaMallocArray", 21, 22, { ...array, kind: "alloc" }),
    call("cudaMallocArray", 23, 24, { ...array, kind: "alloc" }),
    call("cudaFreeArray", 25, 26, { ...array, heldNs: 1 }),
  ];
  const [device, arrays] = explain(...given).memory;
  assert.deepEqual([device!.allocations, device!.ofUnknownSize, device!.sizeMax], [1, 0, 64]);
  assert.deepEqual([arrays!.allocations, arrays!.ofUnknownSize, arrays!.frees, arrays!.sizeP50, arrays!.sizeMax], [2, 2, 1, null, null]);
  const rows = presentGpu(explain(...given)).flatMap((view) => view.type === "table" && view.title.startsWith("Memory") ? [view] : []);
  assert.deepEqual(rows.map(({ columns, rows }) => [columns.slice(2, 5).map(({ title }) => title), rows.map((row) => row.slice(2, 6))]), [
    [["peak", "allocations", "of unknown size"], [[64, 1, 0, 64], [null, 2, 2, null]]],
  ]);
  assert.doesNotMatch(said(...held), /unknown size/);
});

Deno.test("gpu memory: held to the end is what the last turn of watching left, and what was never freed in any", () => {
  const window = (open: boolean) => ({ ...spans.mark("window"), open });
  const left = (bytes: number, hasExited: boolean): Span => {
    const { track, at } = spans.exit(90), held = { bytes, memory: "device", device: 0, stack: undefined, heldNs: 1, hasExited };
    return { type: "instant", category: "gpu.held", name: "", track, at, held };
  };
  const turn = (...bytes: readonly [leaked: number, ...held: readonly number[]]) => {
    const told = bytes.map((bytes, i) => left(bytes, i === 0));
    return [window(true), window(true), ...told, window(false), window(false), spans.mark("ended")];
  };
  const of = (given: readonly Span[]) => explain(...given).held.map(({ exited, blocks, bytes }) => [exited, blocks, bytes]);
  assert.deepEqual(of([...turn(1, 64, 32), ...turn(2, 16)]), [[false, 1, 16], [true, 2, 3]]);
  // Another one was to begin, and the target was gone.
  assert.deepEqual(of(turn(1, 64, 32)), [[false, 2, 96], [true, 1, 1]]);
});
