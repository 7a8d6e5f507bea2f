import assert from "node:assert/strict";
import type { GpuCall } from "../lib/events/gpu.ts";
import type { Span } from "../lib/events/span.ts";
import { Tracks } from "../lib/events/tracks.ts";
import { head } from "../tests/judge/corpus.ts";
import { exported } from "../tests/judge/memory_sink.ts";
import { gpuCalls } from "../tests/harness/gpu_calls.ts";
import { openCudaJsonl } from "./cuda_jsonl.ts";

const tracks = new Tracks();
const opened = (at: number): Span => ({ type: "mark", at, kind: "window", stream: "cuda/calls", text: "", open: true });
const call = (name: string, start: number, end: number, family: string, more: Partial<GpuCall> = {}): Span => ({
  type: "slice",
  track: tracks.thread(7, 8),
  name,
  category: `gpu.${family}`,
  start,
  end,
  gpu: { family, kind: "", result: 0, failure: null, ...more },
});
const written = (...spans: readonly Span[]) => exported(openCudaJsonl, head, spans).text();

Deno.test("cuda-jsonl: a line for each call of CUDA's driver and runtime: what scripts look for first, then what else is known of it", () => {
  const text = written(
    opened(1_000_000),
    call("cuMemAlloc", 2_500_000, 2_504_001, "cuda", { bytes: 1009 }),
    call("cudaMemcpyAsync", 3_000_000, 3_000_750, "cudart", { bytes: 64, stream: 0x77 }),
    call("cudaStreamSynchronize", 4_000_000, 1_004_000_000, "cudart", { stream: 0, result: 700, failure: "illegal address (700)" }),
  );
  assert.equal(
    text,
    `{"ts":1.5,"pid":7,"type":"cuda_api","func":"cuMemAlloc","phase":"entry","tid":8,"dur":0.004001,"bytes":1009,"ret":0}
{"ts":2,"pid":7,"type":"cuda_runtime","func":"cudaMemcpyAsync","phase":"entry","tid":8,"dur":0.00075,"bytes":64,"stream":119,"ret":0}
{"ts":3,"pid":7,"type":"cuda_runtime","func":"cudaStreamSynchronize","phase":"entry","tid":8,"dur":1000,"stream":0,"ret":700}
`,
  );
});

Deno.test("cuda-jsonl: calls of others, and what is no call, have no line; times go on from where counting began first", () => {
  const kernel: Span = { type: "slice", track: tracks.lane(7, "GPU 0, stream 13"), name: "rope", category: "gpu.kernel", start: 5e6, end: 6e6 };
  const text = written(
    opened(0),
    call("ncclAllReduce", 1e6, 2e6, "nccl", { bytes: 64 }),
    call("hipMalloc", 1e6, 2e6, "hip"),
    kernel,
    opened(9e6),
    call("cuInit", 10e6, 11e6, "cuda"),
  );
  assert.equal(text, `{"ts":10,"pid":7,"type":"cuda_api","func":"cuInit","phase":"entry","tid":8,"dur":1,"ret":0}\n`);
});

Deno.test("cuda-jsonl: a call that has not returned has a line, with how long it has lasted, and no result", () => {
  const open = (name: string, library: string): Span => (
    { type: "slice", track: tracks.thread(7, 8), name, category: "gpu.unfinished", start: 2e6, end: 5e6, args: { library } }
  );
  const lines = written(opened(1e6), open("cuStreamSynchronize", "cuda"), open("cudaStreamSynchronize", "cudart"), open("ncclSend", "nccl"))
    .trimEnd().split("\n");
  assert.deepEqual(lines, [
    `{"ts":1,"pid":7,"type":"cuda_api","func":"cuStreamSynchronize","phase":"entry","tid":8,"dur":3}`,
    `{"ts":1,"pid":7,"type":"cuda_runtime","func":"cudaStreamSynchronize","phase":"entry","tid":8,"dur":3}`,
  ]);
});

Deno.test("cuda-jsonl: who asks for the last error is told it and has not failed; what returns a text has no number", () => {
  const { decoding, call } = gpuCalls();
  call("cudaGetLastError", 1e6, 2e6, [], 2);
  call("cudaPeekAtLastError", 3e6, 4e6, [], 700);
  call("cudaGetLastError", 5e6, 6e6, [], 0);
  call("cudaGetErrorName", 7e6, 8e6, [], 0x7ffff123);
  const lines = written(opened(0), ...decoding.spans).trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(lines.map(({ func, ret }) => [func, ret]), [
    ["cudaGetLastError", 2],
    ["cudaPeekAtLastError", 700],
    ["cudaGetLastError", 0],
    ["cudaGetErrorName", undefined],
  ]);
  assert.deepEqual(decoding.spans.flatMap((span) => span.type === "slice" ? [span.gpu?.failure] : [span.type]), [null, null, null, null]);
});
