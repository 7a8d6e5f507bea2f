import assert from "node:assert/strict";
import { gpuCalls } from "../../tests/harness/gpu_calls.ts";

Deno.test("gpu: memory is held from when it is given until it is let go; what is left when the process exits was never freed", () => {
  const { decoding, call } = gpuCalls();
  call("cuMemAlloc_v2", 10, 20, [0xa000, 64]);
  call("cuMemAlloc_v2", 30, 40, [0xb000, 100]);
  call("cuMemFree_v2", 50, 60, [0xa000]);
  call("cuMemFree_v2", 61, 62, [0xa000], 1);
  decoding.event(70, "process/life.exit", {});
  assert.deepEqual(decoding.told(), [
    "100 <memory of GPU 0> = 64 at 20",
    '100/100 gpu.cuda "cuMemAlloc" 10–20 address=0xa000 bytes=64 memory=device device=0 returned=0',
    "100 <memory of GPU 0> = 164 at 40",
    '100/100 gpu.cuda "cuMemAlloc" 30–40 address=0xb000 bytes=100 memory=device device=0 returned=0',
    "100 <memory of GPU 0> = 100 at 60",
    '100/100 gpu.cuda "cuMemFree" 50–60 address=0xa000 bytes=64 memory=device device=0 returned=0',
    '100/100 gpu.cuda "cuMemFree" 61–62 address=0xa000 returned=1',
    '100/100 gpu.error "cuMemFree: invalid value (1)" 62 function=cuMemFree result=1',
    "100 <memory of GPU 0> = 0 at 70",
    '100 <GPU memory never freed> gpu.held "never freed" 70 bytes=100 memory=device device=0 address=0xb000',
  ]);
});

Deno.test("gpu: who asked for a block is who called the runtime, not what that asked of the driver", () => {
  const { decoding, call } = gpuCalls();
  const alloc = (name: string, began: number, ended: number, words: readonly number[], stack?: number) => {
    if (stack !== undefined) decoding.event(ended, `${name.startsWith("cuda") ? "cudart" : "cuda"}/calls.at`, { stack });
    call(name, began, ended, words);
  };
  alloc("cuMemAlloc_v2", 11, 12, [0xa000, 64], 1);
  alloc("cudaMallocAsync", 10, 13, [0xa000, 64, 7], 2);
  // The outer call's is not known.
  alloc("cuMemAllocAsync", 21, 22, [0xb000, 64, 7], 1);
  alloc("cudaMallocAsync", 20, 23, [0xb000, 64, 7]);
  // The runtime gives what it asked the driver for as physical memory.
  alloc("cuMemCreate", 31, 32, [1, 64, 1], 1);
  call("cuMemMap", 33, 34, [0xc000, 64, 1]);
  alloc("cudaMallocAsync", 30, 35, [0xc000, 64, 7], 2);
  // What it had asked for before is another call's.
  alloc("cuMemCreate", 41, 42, [2, 128, 1], 1);
  call("cuMemMap", 43, 44, [0xd000, 128, 2]);
  alloc("cudaMallocAsync", 50, 51, [0xd000, 64, 7], 2);
  decoding.event(70, "process/life.exit", {});
  const held = decoding.spans.flatMap((span) => span.type === "instant" && span.held ? [span.held] : []);
  assert.deepEqual(held.map(({ bytes, stack }) => [bytes, stack]), [[64, 2], [64, 1], [64, 2], [128, 1]]);
});

Deno.test("gpu: memory of a process that goes on without its first thread is held until its last one ends", () => {
  const { decoding, call } = gpuCalls();
  call("cuMemAlloc_v2", 10, 20, [0xa000, 64]);
  call("cuMemAlloc_v2", 30, 40, [0xb000, 100]);
  decoding.told();
  decoding.event(50, "process/life.exit", { code: 2 ** 17 });
  decoding.event(51, "process/life.exit", { code: 2 ** 17 }, "100/101");
  call("cuMemFree_v2", 60, 61, [0xa000]);
  decoding.event(70, "process/life.exit", { code: 0 }, "100/102");
  assert.deepEqual(decoding.told().filter((line) => !line.includes("cuMemFree")), [
    "100 <memory of GPU 0> = 100 at 61",
    "100 <memory of GPU 0> = 0 at 70",
    '100 <GPU memory never freed> gpu.held "never freed" 70 bytes=100 memory=device device=0 address=0xb000',
  ]);
});

Deno.test("gpu: a copy goes where the addresses lie, a context says which GPU is meant", () => {
  const { decoding, call } = gpuCalls();
  decoding.event(0, "process/life.task", { id: 100, isThread: 0 }, "99");
  call("cuCtxCreate_v2", 1, 2, [0xc0, 3]);
  call("cuMemAlloc_v2", 10, 20, [0xa000, 64]);
  decoding.told();
  call("cuMemcpy", 21, 22, [0xa010, 0x1, 8]);
  call("cuMemcpy", 23, 24, [0x1, 0xa03f, 8]);
  call("cuMemcpy", 25, 26, [0x1, 0xa040, 8]);
  // Where physical memory will be mapped.
  call("cuMemAddressReserve", 27, 28, [0xd000, 4096]);
  call("cuMemcpy", 28, 29, [0xd800, 0x1, 8]);
  call("cuMemAddressFree", 29, 30, [0xd000, 4096]);
  call("cuMemcpy", 30, 31, [0xd800, 0x1, 8]);
  assert.deepEqual(decoding.told().filter((line) => line.includes('cuMemcpy"')).map((line) => / direction=(.*) returned=0$/.exec(line)?.[1]), [
    "host to device",
    "device to host",
    "on the host",
    "host to device",
    "on the host",
  ]);
  assert.match(decoding.end(32).join("\n"), /"still held" 32 bytes=64 memory=device device=3/);
});

Deno.test("gpu: a copy leads from one GPU to another by its function, or where its addresses say so of a process that was seen to begin", () => {
  const directions = (hasBegun: boolean) => {
    const { decoding, call } = gpuCalls(), STREAM = 7, DEVICE_TO_DEVICE = 3, DEFAULT = 4;
    if (hasBegun) decoding.event(0, "process/life.task", { id: 100, isThread: 0 }, "99");
    call("cuMemAlloc_v2", 1, 2, [0xa000, 64]);
    call("cuCtxCreate_v2", 3, 4, [0xc0, 3]);
    call("cuMemAlloc_v2", 5, 6, [0xb000, 64]);
    call("cuMemcpyPeerAsync", 10, 11, [0x1, 0x2, 8, STREAM]);
    call("cuMemcpy", 12, 13, [0xb000, 0xa000, 8]);
    // What else a process was given says nothing of these addresses.
    call("cuLibraryGetGlobal", 14, 15, []);
    call("cuMemcpyDtoDAsync", 16, 17, [0xb000, 0xa000, 8, STREAM]);
    call("cuMemcpyDtoDAsync", 18, 19, [0xa000, 0xa020, 8, STREAM]);
    // The runtime, and the driver that it asks.
    call("cuMemcpyDtoDAsync", 21, 22, [0xa000, 0xb000, 8, STREAM]);
    call("cudaMemcpyAsync", 20, 23, [0xa000, 8, DEVICE_TO_DEVICE, STREAM]);
    call("cuMemcpyPeerAsync", 31, 32, [0xa000, 0xb000, 8, STREAM]);
    call("cudaMemcpyAsync", 30, 33, [0xa000, 8, DEFAULT, STREAM]);
    call("cudaMemcpyAsync", 40, 43, [0xa000, 8, DEFAULT, STREAM]);
    return decoding.told().flatMap((line) => / direction=(.*) returned=0$/.exec(line)?.[1] ?? []);
  };
  const [between, on, unknown] = ["between devices", "on the device", "by the addresses"] as const;
  assert.deepEqual(directions(true), [between, between, between, on, between, between, between, between, unknown]);
  assert.deepEqual(directions(false), [between, on, on, on, on, on, between, between, unknown]);
});

Deno.test("gpu: what was asked for before anybody looked, or lies where nobody says how much does, may be anybody's memory", () => {
  const { decoding, call } = gpuCalls();
  const direction = (process = "100") => {
    call("cuMemcpy", 23, 24, [0xa010, 0x1, 8], 0, process);
    return / direction=(.*) returned=0$/.exec(decoding.told().at(-1)!)?.[1];
  };
  call("cuMemAlloc_v2", 10, 20, [0xa000, 64]);
  assert.equal(direction(), "by the addresses", "a process that ran already");
  decoding.event(25, "process/life.task", { id: 200, isThread: 0 });
  call("cuMemAlloc_v2", 10, 20, [0xa000, 64], 0, "200");
  assert.equal(direction("200"), "host to device");
  call("cuLibraryGetGlobal", 26, 27, [], 0, "200");
  assert.equal(direction("200"), "by the addresses");
});

Deno.test("gpu: what a context held is gone with it, and what a program held with the next one", () => {
  const { decoding, call } = gpuCalls();
  call("cuCtxCreate_v2", 1, 2, [0xc0, 3]);
  call("cuMemAlloc_v2", 10, 20, [0xa000, 64]);
  call("cuMemAlloc_v2", 11, 21, [0, 0]);
  decoding.told();
  call("cuCtxDestroy_v2", 30, 31, [0xc0]);
  call("cuMemAlloc_v2", 40, 41, [0xa000, 32]);
  decoding.event(50, "process/life.exec", { file: "other" });
  assert.deepEqual(decoding.told().filter((line) => !line.includes("gpu.cuda")), [
    "100 <memory of GPU 3> = 0 at 31",
    '100 <GPU memory never freed> gpu.held "never freed" 31 bytes=64 memory=device device=3 address=0xa000',
    "100 <memory of GPU 0> = 32 at 41",
    "100 <memory of GPU 0> = 0 at 50",
    '100 <GPU memory never freed> gpu.held "never freed" 50 bytes=32 memory=device device=0 address=0xa000',
  ]);
});

Deno.test("gpu: an address that is given again before it was told that the first block is let go", () => {
  const { decoding, call } = gpuCalls();
  call("cuMemAlloc_v2", 10, 20, [0xa000, 64]);
  call("cuMemAlloc_v2", 31, 32, [0xa000, 100], 0, "100/101");
  call("cuMemFree_v2", 30, 40, [0xa000]);
  const calls = decoding.spans.flatMap((span) => span.type === "slice" && span.gpu ? [span.gpu] : []);
  assert.deepEqual(calls.map(({ bytes, released, heldNs }) => [bytes, released, heldNs]), [
    [64, undefined, undefined],
    [100, [{ bytes: 64, memory: "device", device: 0, heldNs: 12 }], undefined],
    [undefined, undefined, undefined],
  ]);
});

Deno.test("gpu: memory that a stream is asked for while it is recorded belongs to the graph, and is nobody's until that is launched", () => {
  const { decoding, call } = gpuCalls(), STREAM = 7;
  decoding.event(0, "process/life.task", { id: 100, isThread: 0 }, "99");
  call("cuMemAllocAsync", 1, 2, [0x9000, 32, STREAM]);
  call("cuStreamBeginCapture_v2", 3, 4, [STREAM]);
  call("cuMemAllocAsync", 6, 7, [0xa000, 64, STREAM]);
  call("cudaMallocAsync", 5, 8, [0xa000, 64, STREAM]);
  call("cuMemAllocAsync", 9, 10, [0xb000, 16, 8]);
  call("cuMemAlloc_v2", 11, 12, [0xc000, 8]);
  call("cuMemFreeAsync", 13, 14, [0xa000, STREAM]);
  call("cuMemAllocAsync", 15, 16, [0, 1, STREAM], 2);
  call("cuStreamEndCapture", 17, 18, [0x6a, STREAM]);
  call("cuMemFreeAsync", 19, 20, [0x9000, STREAM]);
  // Where the graph's memory lies is known from now on, and not how much of it does.
  call("cuMemcpy", 21, 22, [0xa010, 0x1, 8]);
  assert.deepEqual(decoding.told(), [
    "100 <memory of GPU 0, pooled> = 32 at 2",
    '100/100 gpu.cuda "cuMemAllocAsync" 1–2 address=0x9000 bytes=32 stream=0x7 memory=pooled device=0 returned=0',
    '100/100 gpu.cuda "cuStreamBeginCapture" 3–4 stream=0x7 returned=0',
    '100/100 gpu.cuda "cuMemAllocAsync" 6–7 address=0xa000 bytes=64 stream=0x7 captured=true returned=0',
    '100/100 gpu.cudart "cudaMallocAsync" 5–8 address=0xa000 bytes=64 stream=0x7 captured=true returned=0',
    "100 <memory of GPU 0, pooled> = 48 at 10",
    '100/100 gpu.cuda "cuMemAllocAsync" 9–10 address=0xb000 bytes=16 stream=0x8 memory=pooled device=0 returned=0',
    "100 <memory of GPU 0> = 8 at 12",
    '100/100 gpu.cuda "cuMemAlloc" 11–12 address=0xc000 bytes=8 memory=device device=0 returned=0',
    '100/100 gpu.cuda "cuMemFreeAsync" 13–14 address=0xa000 stream=0x7 captured=true returned=0',
    '100/100 gpu.cuda "cuMemAllocAsync" 15–16 address=0x0 bytes=1 stream=0x7 memory=pooled device=0 returned=2',
    '100/100 gpu.error "cuMemAllocAsync: out of memory (2)" 16 function=cuMemAllocAsync result=2',
    '100/100 gpu.cuda "cuStreamEndCapture" 17–18 graph=0x6a stream=0x7 returned=0',
    "100 <memory of GPU 0, pooled> = 16 at 20",
    '100/100 gpu.cuda "cuMemFreeAsync" 19–20 address=0x9000 stream=0x7 bytes=32 memory=pooled device=0 returned=0',
    '100/100 gpu.cuda "cuMemcpy" 21–22 to=0xa010 from=0x1 bytes=8 direction=by the addresses returned=0',
  ]);
  assert.deepEqual(decoding.end(30).map((line) => / bytes=(\d+)/.exec(line)?.[1]), ["16", "8"]);
});

Deno.test("gpu: physical memory lies where it was asked for: on a GPU, whichever the thread works with, or on the host", () => {
  const { decoding, call } = gpuCalls();
  const onDevice = (device: number) => 1 + 256 * device, onHost = 2, onNode = 3 + 256 * 7;
  for (const [handle, location] of [onDevice(0), onDevice(5), onHost, onNode].entries()) call("cuMemCreate", 1, 2, [handle + 1, 64, location]);
  const calls = decoding.spans.flatMap((span) => span.type === "slice" && span.gpu ? [span.gpu] : []);
  assert.deepEqual(calls.map(({ memory, device }) => [memory, device]), [["physical", 0], ["physical", 5], ["physical", -1], ["physical", -1]]);
});

Deno.test("gpu: how much an array is, or a cube that is set, nobody says: it is not told as nothing", () => {
  const { decoding, call } = gpuCalls();
  call("cudaMallocArray", 1, 2, [0xa000]);
  call("cudaMemset3D", 3, 4, []);
  call("cudaFreeArray", 5, 6, [0xa000]);
  call("cudaMallocArray", 7, 8, [0xb000]);
  decoding.event(9, "process/life.exit", {});
  assert.deepEqual(decoding.told(), [
    '100/100 gpu.cudart "cudaMallocArray" 1–2 address=0xa000 memory=array device=0 returned=0',
    '100/100 gpu.cudart "cudaMemset3D" 3–4 returned=0',
    '100/100 gpu.cudart "cudaFreeArray" 5–6 address=0xa000 memory=array device=0 returned=0',
    '100/100 gpu.cudart "cudaMallocArray" 7–8 address=0xb000 memory=array device=0 returned=0',
    '100 <GPU memory never freed> gpu.held "never freed" 9 memory=array device=0 address=0xb000',
  ]);
});

Deno.test("gpu: what is pinned of the host's memory is one sum, of whatever kind it is", () => {
  const { decoding, call } = gpuCalls();
  call("cuMemHostAlloc", 1, 2, [0xa000, 100]);
  call("cuMemHostRegister_v2", 3, 4, [0xb000, 7]);
  call("cuMemCreate", 5, 6, [1, 64, 2]);
  call("cuMemHostUnregister", 7, 8, [0xb000]);
  call("cuMemFreeHost", 9, 10, [0xa000]);
  assert.deepEqual(decoding.told().filter((line) => line.includes("> = ")), [
    "100 <pinned memory of the host> = 100 at 2",
    "100 <pinned memory of the host> = 107 at 4",
    "100 <pinned memory of the host> = 171 at 6",
    "100 <pinned memory of the host> = 164 at 8",
    "100 <pinned memory of the host> = 64 at 10",
  ]);
});

Deno.test("gpu: of a process that ends each sum is nothing from then on, told once; of one that goes on when counting ends it stays", () => {
  const counters = (exits: boolean) => {
    const { decoding, call } = gpuCalls();
    for (const address of [0xa000, 0xb000, 0xc000]) call("cuMemAlloc_v2", 1, 2, [address, 64]);
    call("cuMemHostAlloc", 3, 4, [0xd000, 100]);
    call("cuMemHostRegister_v2", 5, 6, [0xe000, 7]);
    call("cudaMallocArray", 7, 8, [0x9000]);
    decoding.told();
    if (exits) decoding.event(70, "process/life.exit", {});
    return decoding.end(70).filter((line) => line.includes("> = "));
  };
  assert.deepEqual(counters(true), ["100 <memory of GPU 0> = 0 at 70", "100 <pinned memory of the host> = 0 at 70"]);
  assert.deepEqual(counters(false), []);
});
