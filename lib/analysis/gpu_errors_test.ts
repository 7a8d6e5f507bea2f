import assert from "node:assert/strict";
import { analyse } from "../../tests/harness/spans.ts";
import type { GpuCall } from "../events/gpu.ts";
import type { Slice, Span } from "../events/span.ts";
import { Tracks } from "../events/tracks.ts";
import { gpu } from "./gpu.ts";
import { GpuErrors, LASTING } from "./gpu_errors.ts";
import { presentGpu } from "./gpu_present.ts";
import { failureOf } from "../../probes/gpu/results.ts";

const tracks = new Tracks();

type Failed = readonly [name: string, start: number, end: number, what?: { readonly pid?: number; readonly tid?: number; readonly result?: number }];

function slices(calls: readonly Failed[]): (Slice & { readonly gpu: GpuCall })[] {
  return calls.map(([name, start, end, { pid = 7, tid, result = 700 } = {}]) => {
    const family = name.startsWith("vk") ? "vulkan" : name.startsWith("ze") ? "levelzero" : "cuda",
      gpu: GpuCall = { family, kind: "launch", result, failure: `error (${result})` };
    return { type: "slice", track: tracks.thread(pid, tid ?? pid), name, category: `gpu.${family}`, start, end, gpu };
  });
}

function resultOf(calls: readonly Failed[]) {
  const errors = new GpuErrors();
  for (const slice of slices(calls)) errors.failed(slice, slice.gpu);
  return errors.result(5);
}

const launches = (many: number, what = {}) => Array.from({ length: many }, (_, i): Failed => ["cuLaunchKernel", 100 + i, 101 + i, what]);

Deno.test("gpu errors: what fails behind a lost context is an echo of the call that was told of it first, whatever thread asks", () => {
  const { errors, lost } = resultOf([
    ["cuMemAlloc", 1, 2, { result: 2 }],
    ["cuStreamSynchronize", 11, 19],
    ["cudaStreamSynchronize", 10, 20],
    ...launches(3),
    ...launches(2, { tid: 8 }),
    ["cudaStreamSynchronize", 200, 201],
  ]);
  assert.deepEqual(lost, [{ pid: 7, tid: 7, function: "cudaStreamSynchronize", failure: "error (700)", atNs: 15, echoes: 6 }]);
  assert.deepEqual(errors.map(({ function: name, times, echoes }) => [name, times, echoes]), [
    ["cudaStreamSynchronize", 2, 1],
    ["cuMemAlloc", 1, 0],
    ["cuStreamSynchronize", 1, 0],
    ["cuLaunchKernel", 5, 5],
  ]);
});

Deno.test("gpu errors: each process loses its own, and what fails again for reasons of its own is no echo", () => {
  const { errors, lost } = resultOf([...launches(2, { pid: 8 }), ["cuCtxSynchronize", 50, 90], ...launches(4, { result: 2 })]);
  assert.deepEqual(lost.map(({ pid, function: name, echoes }) => [pid, name, echoes]), [[7, "cuCtxSynchronize", 0], [8, "cuLaunchKernel", 1]]);
  assert.deepEqual(errors.map(({ failure, times, echoes }) => [failure, times, echoes]), [
    ["error (2)", 4, 0],
    ["error (700)", 2, 1],
    ["error (700)", 1, 0],
  ]);
  assert.deepEqual(resultOf([["vkQueueSubmit", 1, 2, { result: -4 }], ["vkQueueSubmit", 3, 4, { result: -4 }]]).lost.map(({ echoes }) => echoes), [
    1,
  ]);
  assert.deepEqual(resultOf([["vkQueueSubmit", 1, 2, { result: -2 }]]).lost, []);
  const LOST = { result: 0x70000001 }, NO_MEMORY = { result: 0x70000003 };
  const zero = resultOf([["zeMemAllocDevice", 1, 2, NO_MEMORY], ["zeFenceHostSynchronize", 3, 4, LOST], ["zeMemFree", 5, 6, LOST]]);
  assert.deepEqual(zero.lost.map(({ function: name, echoes }) => [name, echoes]), [["zeFenceHostSynchronize", 1]]);
});

Deno.test("gpu errors: the call that was told of it first is named, and when, however often others fail behind it", () => {
  const open: Span = { type: "mark", at: 1e9, kind: "window", stream: "cuda", text: "", open: true };
  const views = presentGpu(analyse(gpu(), [open, ...slices([["cuCtxSynchronize", 2e9, 2.5e9], ["cuMemFree", 3e9, 4e9], ["cuMemFree", 5e9, 6e9]])]));
  const notes = views.flatMap((view) => view.type === "note" ? [view.text] : []).join("\n");
  assert.match(notes, /After 1\.50 s cuCtxSynchronize \(thread 7 of process 7\) failed with error \(700\): .* behind it in that process 2 failed/);
  assert.deepEqual(views.flatMap((view) => view.type === "table" && view.title === "Calls that failed" ? view.rows : []), [
    ["cuCtxSynchronize", "error (700)", 1, 0],
    ["cuMemFree", "error (700)", 2, 2],
  ]);
});

Deno.test("gpu errors: what loses a GPU has a name, and what the machine lacks is told with what mends it", () => {
  for (const result of LASTING) assert.doesNotMatch(failureOf("cuda", result!)!, /^error /, `${result}`);
  const failed = slices([["cuInit", 1, 2, { result: 802 }], ["cudaGetDeviceCount", 3, 4, { result: 802 }]]);
  const views = presentGpu(analyse(gpu(), failed.map((slice) => ({ ...slice, gpu: { ...slice.gpu, failure: failureOf("cuda", 802) } }))));
  const mends = views.filter((view) => view.type === "note" && view.text.includes("systemctl start nvidia-fabricmanager"));
  assert.equal(mends.length, 1);
});
