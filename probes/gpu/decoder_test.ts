import assert from "node:assert/strict";
import type { Decoding } from "../../tests/harness/decoding.ts";
import { FUNCTIONS, gpuCalls } from "../../tests/harness/gpu_calls.ts";

/** On the rows of streams. */
const given = (decoding: Decoding) => decoding.told().filter((line) => line.includes(" gpu.stream "));

Deno.test("gpu: calls that have not returned are told when counting ends, the inner ones first, also of a process that ended in them", () => {
  const { decoding } = gpuCalls();
  const open = (name: string, began: number, family: string, thread = 101) => {
    const at = 4096 * (FUNCTIONS.indexOf(name) + 1) + 4;
    decoding.event(90, `${family}/calls.open`, { thread: 100 * 2 ** 22 + thread, function: at, began });
  };
  decoding.event(70, "process/life.exit", {}, "100/102");
  decoding.event(80, "process/life.exit", {}, "100/101");
  decoding.event(80, "process/life.exit", {});
  decoding.told();
  // Each family's program tells of all.
  for (const family of ["cuda", "cudart"]) {
    open("cudaDeviceSynchronize", 10, family);
    open("cuStreamSynchronize", 11, family);
  }
  open("cuStreamSynchronize", 12, "cuda", 102);
  assert.deepEqual(decoding.end(91), [
    '100/102 gpu.unfinished "cuStreamSynchronize" 12–70 library=cuda',
    '100/101 gpu.unfinished "cuStreamSynchronize" 11–80 library=cuda',
    '100/101 gpu.unfinished "cudaDeviceSynchronize" 10–80 library=cudart',
  ]);
});

Deno.test("gpu: what a stream is given is on its row, where the call began: once, also where the runtime asks the driver for it", () => {
  const { decoding, call } = gpuCalls();
  const grid = [1 + 2 ** 31, 1 + 2 ** 16 + 2 ** 27 + 2 ** 38], STREAM = 7, DEVICE_TO_DEVICE = 3;
  decoding.event(5, "cuda/calls.named", { function: 4 * 4096, began: 4, given: 0xf00, name: "rope" });
  call("cuLaunchKernel", 11, 12, [0xf00, ...grid, STREAM]);
  call("cudaLaunchKernel", 10, 13, [0xabc, ...grid, STREAM]);
  call("cudaLaunchKernel", 14, 15, [0xdef, ...grid, STREAM]);
  call("cuMemcpyDtoDAsync", 21, 22, [0xa0, 0xb0, 100, STREAM]);
  call("cudaMemcpyAsync", 20, 23, [0xa0, 100, DEVICE_TO_DEVICE, STREAM]);
  call("cuMemsetD32Async", 31, 32, [0xa0, 25, STREAM]);
  call("cudaMemsetAsync", 30, 33, [0xa0, 100, STREAM]);
  call("cuGraphLaunch", 41, 42, [0xe0, STREAM]);
  call("cudaGraphLaunch", 40, 43, [0xe0, STREAM]);
  // A collective is work of its own, and launches a kernel.
  call("cuLaunchKernel", 51, 52, [0xf00, ...grid, STREAM]);
  call("ncclAllReduce", 50, 53, [25, 7, STREAM]);
  assert.deepEqual(given(decoding), [
    '100 <stream 0x7> gpu.stream "rope" 11',
    '100 <stream 0x7> gpu.stream "0xdef" 14',
    '100 <stream 0x7> gpu.stream "cuMemcpyDtoDAsync" 21',
    '100 <stream 0x7> gpu.stream "cuMemsetD32Async" 31',
    '100 <stream 0x7> gpu.stream "cuGraphLaunch" 41',
    '100 <stream 0x7> gpu.stream "rope" 51',
    '100 <stream 0x7> gpu.stream "ncclAllReduce" 50',
  ]);
});

Deno.test("gpu: a stream is given nothing by a call that failed, that is recorded into a graph, that waits, or that names no stream", () => {
  const { decoding, call } = gpuCalls();
  const launch = [0xf00, 1 + 2 ** 31, 1 + 2 ** 16 + 2 ** 27 + 2 ** 38, 7];
  call("cuLaunchKernel", 10, 11, launch, 1);
  call("cuStreamBeginCapture_v2", 12, 13, [7]);
  call("cuLaunchKernel", 14, 15, launch);
  call("cuStreamEndCapture", 16, 17, [0x6a, 7]);
  call("cuStreamSynchronize", 18, 19, [7]);
  call("cuMemcpy", 20, 21, [0xa0, 0xb0, 8]);
  assert.deepEqual(given(decoding), []);
});

Deno.test("gpu: each process has a row for each of its streams, by its handle, or by whose it is that has none", () => {
  const { decoding, call } = gpuCalls();
  const LEGACY = 1, PER_THREAD = 2;
  const row = (stream: number, who = "100", name = "cuLaunchKernel") => {
    call(name, 10, 11, [0xf00, 1 + 2 ** 31, 1 + 2 ** 16 + 2 ** 27 + 2 ** 38, stream], 0, who);
    return given(decoding).map((line) => line.replace(/ gpu\.stream .*/, "")).join();
  };
  decoding.event(0, "process/life.task", { id: 200, isThread: 0 });
  assert.deepEqual([row(7), row(8), row(7, "100/101"), row(7, "200")], [
    "100 <stream 0x7>",
    "100 <stream 0x8>",
    "100 <stream 0x7>",
    "200 <stream 0x7>",
  ]);
  const ofGpu = "100 <GPU 0, default stream>", ofThread = "100 <GPU 0, default stream of thread 101>";
  assert.deepEqual([row(0), row(LEGACY), row(0, "100/101")], [ofGpu, ofGpu, ofGpu]);
  assert.deepEqual([row(PER_THREAD, "100/101"), row(0, "100/101", "cuLaunchKernel_ptsz")], [ofThread, ofThread]);
  call("cuCtxCreate_v2", 12, 13, [0xc0, 3]);
  assert.equal(row(0), "100 <GPU 3, context 0xc0, default stream>");
});

Deno.test("gpu: of a process that nobody could look at, calls are counted and not understood", () => {
  const { decoding, call } = gpuCalls();
  call("cuMemAlloc_v2", 10, 20, [0xa000, 64], 0, "200");
  assert.deepEqual(decoding.told(), ['200/200 gpu.cuda "unknown call" 10–20']);
});

Deno.test("gpu: device files by whoever uses them, what failed by its errno", () => {
  const { decoding } = gpuCalls();
  decoding.event(1, "gpu/files.device", { device: 99, name: "nvidia0" });
  decoding.event(1, "gpu/files.process", { mine: 0, name: "other" }, "300");
  decoding.event(10, "gpu/files.open", { began: 5, returned: 7, mine: 0, path: "/dev/nvidia0" }, "300");
  decoding.event(12, "gpu/files.open", { began: 11, returned: -13, mine: 1, path: "/dev/nvidia1" });
  decoding.event(30, "gpu/files.ioctl", { began: 20, device: 99, command: 0xc020462a, returned: 0, mine: 1 });
  decoding.event(31, "gpu/files.close", { device: 99, mine: 1 });
  decoding.event(41, "gpu/files.map", { began: 40, device: 99, bytes: 8192, returned: 0x7f00_0000_0000, mine: 1 });
  decoding.event(43, "gpu/files.map", { began: 42, device: 99, bytes: 4096, returned: -19, mine: 1 });
  assert.deepEqual(decoding.told(), [
    '300 is called "other" from 1',
    '300/300 gpu.file "open nvidia0" 5–10 path=/dev/nvidia0',
    '100/100 gpu.file "open nvidia1" 11–12 path=/dev/nvidia1 errno=13',
    '100/100 gpu.file "ioctl nvidia0" 20–30 device=nvidia0 command=F 0x2a',
    '100/100 gpu.file "close nvidia0" 31 device=nvidia0',
    '100/100 gpu.file "map nvidia0" 40–41 device=nvidia0 bytes=8192',
    '100/100 gpu.file "map nvidia0" 42–43 device=nvidia0 bytes=4096 errno=19',
  ]);
});
