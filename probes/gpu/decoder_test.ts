import assert from "node:assert/strict";
import { Decoding } from "../../tests/harness/decoding.ts";
import { life } from "../process/life.ts";
import { calls, LAUNCHER } from "./calls.ts";
import { signatureOf } from "./signatures.ts";
import { files } from "./files.ts";

/** Where each function lies in a process that has mapped the driver. */
const FUNCTIONS = [
  "cuMemAlloc_v2",
  "cuMemFree_v2",
  "cuMemcpy",
  "cuModuleGetFunction",
  "cuLaunchKernel",
  "cuStreamBeginCapture_v2",
  "cuStreamEndCapture",
  "cuGraphInstantiateWithFlags",
  "cuGraphExecUpdate",
  "cuGraphDestroy",
  "cuGraphCreate",
  "cuGraphClone",
  "cuMemCreate",
  "ncclAllReduce",
  "cuGraphLaunch",
  "cuMemcpyDtoDAsync",
  "cuEventRecord",
  "cuStreamWaitEvent",
  "cuCtxCreate_v2",
  "cuMemAddressReserve",
  "cuMemAddressFree",
  "cudaLaunchKernel",
  "cuLibraryGetGlobal",
  "cuCtxDestroy_v2",
  "cuStreamSynchronize",
  "cuKernelGetFunction",
  "cudaDeviceSynchronize",
  "cuMemcpyPeerAsync",
  "cudaMemcpyAsync",
  "cudaGraphLaunch",
  "__cudaLaunchKernel",
  "cuMemsetD32Async",
  "cudaMemsetAsync",
  "cuLaunchKernel_ptsz",
  "cuMemHostAlloc",
  "cuMemFreeHost",
  "cuMemHostRegister_v2",
  "cuMemHostUnregister",
  "ncclBroadcast",
  "ncclBcast",
  "cuMemAllocAsync",
  "cuMemFreeAsync",
  "cudaMallocAsync",
];

/** Among what is told: not what a stream was given. */
const isCall = (line: string) => line.endsWith(" returned=0");
/** On the rows of streams. */
const given = (decoding: Decoding) => decoding.told().filter((line) => line.includes(" gpu.stream "));

function made(pid = 100) {
  const decoding = new Decoding(files, life, calls.cuda, calls.cudart, calls.nccl);
  const functions = FUNCTIONS.map((name, i) => ({ at: 4096 * (i + 1), bytes: 64, name }));
  decoding.fact(0, { fact: "code", pid, of: "cuda", ranges: [{ at: 4096, bytes: 1 << 20, file: "libcuda.so.1" }], functions });
  const call = (name: string, began: number, ended: number, words: readonly number[], returned = 0, who = "100") => {
    const family = /^(__)?cuda/.test(name) ? "cudart" : name.startsWith("nccl") ? "nccl" : "cuda";
    const { slots } = signatureOf(family, name)!.layout;
    const fields = Object.fromEntries(words.map((word, i) => [`word${slots[i]}`, word]));
    decoding.event(ended, `${family}/calls.call`, { function: 4096 * (FUNCTIONS.indexOf(name) + 1) + 4, began, returned, ...fields }, who);
  };
  return { decoding, call };
}

Deno.test("gpu: memory is held from when it is given until it is let go; what is left when the process exits was never freed", () => {
  const { decoding, call } = made();
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
    '100 <GPU memory never freed> gpu.held "never freed" 70 bytes=100 memory=device device=0 address=0xb000',
  ]);
});

Deno.test("gpu: a copy goes where the addresses lie, a context says which GPU is meant", () => {
  const { decoding, call } = made();
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
    const { decoding, call } = made(), STREAM = 7, DEVICE_TO_DEVICE = 3, DEFAULT = 4;
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
  const { decoding, call } = made();
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
  const { decoding, call } = made();
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
    '100 <GPU memory never freed> gpu.held "never freed" 50 bytes=32 memory=device device=0 address=0xa000',
  ]);
});

Deno.test("gpu: an address that is given again before it was told that the first block is let go", () => {
  const { decoding, call } = made();
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

Deno.test("gpu: calls that have not returned are told when counting ends, the inner ones first, also of a process that ended in them", () => {
  const { decoding } = made();
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

Deno.test("gpu: a kernel by the name under which it was asked for; one that is recorded into a graph is no launch", () => {
  const { decoding, call } = made();
  decoding.event(5, "cuda/calls.named", { function: 4 * 4096, began: 4, given: 0xf00, name: "rope" });
  call("cuLaunchKernel", 10, 11, [0xf00, 70000 + 3 * 2 ** 31, 5 + 256 * 2 ** 16 + 2 * 2 ** 27 + 2 ** 38, 7]);
  call("cuStreamBeginCapture_v2", 12, 13, [7]);
  call("cuLaunchKernel", 14, 15, [0xf01, 1 + 2 ** 31, 1 + 2 ** 16 + 2 ** 27 + 2 ** 38, 7]);
  call("cuStreamEndCapture", 16, 17, [0x6a, 7]);
  call("cuLaunchKernel", 18, 19, [0xf00, 1 + 2 ** 31, 1 + 2 ** 16 + 2 ** 27 + 2 ** 38, 7]);
  assert.deepEqual(decoding.told().filter((line) => line.includes("cuLaunchKernel")), [
    '100/100 gpu.cuda "cuLaunchKernel" 10–11 function=0xf00 stream=0x7 grid=70000×3×5 block=256×2×1 kernel=rope returned=0',
    '100/100 gpu.cuda "cuLaunchKernel" 14–15 function=0xf01 stream=0x7 grid=1×1×1 block=1×1×1 kernel=0xf01 captured=true returned=0',
    '100/100 gpu.cuda "cuLaunchKernel" 18–19 function=0xf00 stream=0x7 grid=1×1×1 block=1×1×1 kernel=rope returned=0',
  ]);
});

Deno.test("gpu: a graph does what was recorded into it, until another one is put in its place", () => {
  const { decoding, call } = made();
  const grid = [1 + 2 ** 31, 1 + 2 ** 16 + 2 ** 27 + 2 ** 38], STREAM = 7, EXEC = 0xe0;
  const record = (graph: number, kernels: readonly number[], returned = 0) => {
    call("cuStreamBeginCapture_v2", 1, 2, [STREAM]);
    for (const kernel of kernels) call("cuLaunchKernel", 3, 4, [kernel, ...grid, STREAM]);
    call("ncclAllReduce", 4, 5, [25, 7, STREAM]);
    call("cuMemcpyDtoDAsync", 5, 6, [0xa0, 0xb0, 100, STREAM]);
    call("cuStreamEndCapture", 7, 8, [graph, STREAM], returned);
  };
  const launched = (process = "100") => {
    decoding.spans.splice(0);
    call("cuGraphLaunch", 10, 11, [EXEC, STREAM], 0, process);
    const graph = decoding.spans.splice(0).flatMap((span) => span.type === "slice" && span.gpu?.kind === "graphLaunch" ? [span.gpu.graph] : [])[0];
    return graph && [graph.kernels, graph.copies, graph.collectives].map((done) => Object.fromEntries<unknown>(done));
  };
  assert.equal(launched(), undefined, "made before anybody watched");
  record(0x6a, [0xf0, 0xf0, 0xf1]);
  call("cuGraphInstantiateWithFlags", 8, 9, [EXEC, 0x6a]);
  const besides = [{ "on the device": { times: 1, bytes: 100 } }, { ncclAllReduce: { times: 1, bytes: 100 } }];
  assert.deepEqual(launched(), [{ "0xf0": 2, "0xf1": 1 }, ...besides]);
  assert.deepEqual(launched(), [{ "0xf0": 2, "0xf1": 1 }, ...besides], "again");
  record(0x6b, [0xf2]);
  call("cuGraphExecUpdate", 12, 13, [EXEC, 0x6b], 910);
  assert.deepEqual(launched(), [{ "0xf0": 2, "0xf1": 1 }, ...besides], "an update that failed");
  call("cuGraphExecUpdate", 12, 13, [EXEC, 0x6b]);
  assert.deepEqual(launched(), [{ "0xf2": 1 }, ...besides]);
  call("cuStreamBeginCapture_v2", 20, 21, [STREAM]);
  call("cuEventRecord", 22, 23, [0xee, STREAM]);
  call("cuStreamWaitEvent", 24, 25, [8, 0xee]);
  call("cuLaunchKernel", 26, 27, [0xf4, ...grid, 8]);
  call("cuLaunchKernel", 26, 27, [0xf5, ...grid, 9]);
  call("cuStreamEndCapture", 28, 29, [0x6d, STREAM]);
  call("cuLaunchKernel", 30, 31, [0xf4, ...grid, 8]);
  call("cuGraphExecUpdate", 32, 33, [EXEC, 0x6d]);
  assert.deepEqual(launched(), [{ "0xf4": 1 }, {}, {}], "a stream that joins is recorded with it, for as long");
  record(0x6c, [0xf3], 901);
  call("cuGraphExecUpdate", 14, 15, [EXEC, 0x6c]);
  assert.equal(launched(), undefined, "a graph of which nothing is known");
  record(0x6e, [0xf6]);
  call("cuGraphClone", 34, 35, [0x6f, 0x6e]);
  call("cuGraphDestroy", 36, 37, [0x6e]);
  call("cuGraphExecUpdate", 38, 39, [EXEC, 0x6f]);
  assert.deepEqual(launched(), [{ "0xf6": 1 }, ...besides], "a copy of one that is no more");
  call("cuGraphExecUpdate", 40, 41, [EXEC, 0x6e]);
  assert.equal(launched(), undefined, "another one under its handle");
  call("cuGraphCreate", 42, 43, [0x6f]);
  call("cuGraphExecUpdate", 44, 45, [EXEC, 0x6f]);
  assert.equal(launched(), undefined, "one that is put together node by node");
  record(0x6a, [0xf0]);
  call("cuGraphExecUpdate", 46, 47, [EXEC, 0x6a]);
  const around = (exec: number) => {
    call("cuStreamBeginCapture_v2", 48, 49, [STREAM]);
    call("cuLaunchKernel", 50, 51, [0xf7, ...grid, STREAM]);
    call("cuGraphLaunch", 52, 53, [exec, STREAM]);
    call("cudaGraphLaunch", 52, 54, [exec, STREAM]);
    const launches = decoding.spans.flatMap((span) => span.type === "slice" && span.gpu?.kind === "graphLaunch" ? [span.gpu] : []);
    assert.deepEqual(launches.map(({ isCaptured, graph }) => [isCaptured, graph]), [[true, undefined], [true, undefined]]);
    call("cuStreamEndCapture", 55, 56, [0x70, STREAM]);
    call("cuGraphExecUpdate", 57, 58, [EXEC, 0x70]);
  };
  around(EXEC);
  assert.deepEqual(launched(), [{ "0xf7": 1, "0xf0": 1 }, ...besides], "one that is launched while another is recorded is a part of that");
  around(0xe9);
  assert.equal(launched(), undefined, "one of which a part is not known");
  call("cuStreamBeginCapture_v2", 1, 2, [STREAM]);
  call("ncclBroadcast", 4, 5, [25, 7, 0, STREAM]);
  call("ncclBcast", 3, 6, [25, 7, 0, STREAM]);
  for (const began of [7, 10]) call("ncclBroadcast", began, began + 2, [25, 7, 0, STREAM]);
  call("ncclBcast", 8, 13, [25, 7, 0, STREAM], 0, "100/101");
  call("cuStreamEndCapture", 14, 15, [0x71, STREAM]);
  call("cuGraphExecUpdate", 16, 17, [EXEC, 0x71]);
  const collectives = { ncclBcast: { times: 2, bytes: 200 }, ncclBroadcast: { times: 2, bytes: 200 } };
  assert.deepEqual(launched(), [{}, {}, collectives], "a collective that another one makes on the same thread is that one");
});

Deno.test("gpu: what a graph does is not known after a time that nobody watched, whatever else was known of its process", () => {
  const STREAM = 7, EXEC = 0xe0;
  for (const hasMemory of [false, true]) {
    const { decoding, call } = made();
    const kernels = () => {
      decoding.spans.splice(0);
      call("cuGraphLaunch", 20, 21, [EXEC, STREAM]);
      return decoding.spans.flatMap((span) => span.type === "slice" && span.gpu ? [span.gpu.graph?.kernels.size] : []);
    };
    if (hasMemory) call("cuMemAlloc_v2", 1, 2, [0xa000, 64]);
    call("cuStreamBeginCapture_v2", 3, 4, [STREAM]);
    call("cuLaunchKernel", 5, 6, [0xf0, 1 + 2 ** 31, 1 + 2 ** 16 + 2 ** 27 + 2 ** 38, STREAM]);
    call("cuStreamEndCapture", 7, 8, [0x6a, STREAM]);
    call("cuGraphInstantiateWithFlags", 9, 10, [EXEC, 0x6a]);
    assert.deepEqual(kernels(), [1]);
    decoding.end(30);
    assert.deepEqual(kernels(), [undefined], "a launch");
    call("cuGraphExecUpdate", 31, 32, [EXEC, 0x6a]);
    assert.deepEqual(kernels(), [undefined], "of what was recorded before");
  }
});

Deno.test("gpu: memory that a stream is asked for while it is recorded belongs to the graph, and is nobody's until that is launched", () => {
  const { decoding, call } = made(), STREAM = 7;
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

Deno.test("gpu: a stream that is told to wait while a graph is recorded waits in the graph, and not by itself", () => {
  const gaps = (isRecorded: boolean) => {
    const { decoding, call } = made();
    const grid = [1 + 2 ** 31, 1 + 2 ** 16 + 2 ** 27 + 2 ** 38];
    call("cuLaunchKernel", 10, 11, [0xf01, ...grid, 7]);
    if (isRecorded) call("cuStreamBeginCapture_v2", 12, 13, [7]);
    call("cuEventRecord", 14, 15, [0xe, 7]);
    call("cuStreamWaitEvent", 16, 17, [8, 0xe]);
    if (isRecorded) call("cuStreamEndCapture", 18, 19, [0x6a, 7]);
    call("cuStreamSynchronize", 20, 30, [8]);
    call("cuLaunchKernel", 35, 36, [0xf01, ...grid, 8]);
    return decoding.spans.flatMap((span) => span.type === "slice" && span.category === "gpu.gap" ? [[span.start, span.end]] : []);
  };
  assert.deepEqual([gaps(false), gaps(true)], [[[30, 35]], []]);
});

Deno.test("gpu: physical memory lies where it was asked for: on a GPU, whichever the thread works with, or on the host", () => {
  const { decoding, call } = made();
  const onDevice = (device: number) => 1 + 256 * device, onHost = 2, onNode = 3 + 256 * 7;
  for (const [handle, location] of [onDevice(0), onDevice(5), onHost, onNode].entries()) call("cuMemCreate", 1, 2, [handle + 1, 64, location]);
  const calls = decoding.spans.flatMap((span) => span.type === "slice" && span.gpu ? [span.gpu] : []);
  assert.deepEqual(calls.map(({ memory, device }) => [memory, device]), [["physical", 0], ["physical", 5], ["physical", -1], ["physical", -1]]);
});

Deno.test("gpu: what is pinned of the host's memory is one sum, of whatever kind it is", () => {
  const { decoding, call } = made();
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

Deno.test("gpu: a kernel that the runtime knows by no name is called what the driver launches for it", () => {
  const { decoding, call } = made();
  const grid = [1 + 2 ** 31, 1 + 2 ** 16 + 2 ** 27 + 2 ** 38, 0];
  const kernels = () =>
    decoding.told().map((line) => / "(\w+)" .* kernel=(\S+)/.exec(line)?.slice(1).join(": ")).filter((words) => words !== undefined);
  decoding.event(5, "cuda/calls.named", { function: 4 * 4096, began: 4, given: 0xf00, name: "rope" });
  decoding.told();
  call("cuLaunchKernel", 11, 12, [0xf00, ...grid]);
  call("cudaLaunchKernel", 10, 13, [0xabc, ...grid]);
  call("cudaLaunchKernel", 14, 15, [0xdef, ...grid]);
  call("cuLaunchKernel", 17, 18, [0xf01, ...grid]);
  call("cudaLaunchKernel", 16, 19, [0x123, ...grid]);
  call("cudaLaunchKernel", 20, 21, [0xabc, ...grid]);
  assert.deepEqual(kernels(), [
    "cuLaunchKernel: rope",
    "cudaLaunchKernel: rope",
    "cudaLaunchKernel: 0xdef",
    "cuLaunchKernel: 0xf01",
    "cudaLaunchKernel: 0x123",
    "cudaLaunchKernel: rope",
  ]);
});

Deno.test("gpu: a kernel that the runtime knows by a handle has the name of the function that launches it, or that by which the driver does", () => {
  const { decoding, call } = made();
  const grid = [1 + 2 ** 31, 1 + 2 ** 16 + 2 ** 27 + 2 ** 38, 0];
  const launched = (kernel: number, at: number) => {
    call("__cudaLaunchKernel", at, at + 9, [kernel, ...grid]);
    return / kernel=(.*) returned=0$/.exec(decoding.told().findLast(isCall)!)?.[1];
  };
  const launchers = [
    "_ZL32__device_stub__Z5scaleIfEvPT_S0_Pff",
    "_Z10launch_allPi",
    "_ZL25__cudaLaunchKernel_helperP9CUkern_st4dim3S1_PPvmP11CUstream_st",
  ];
  for (const i of launchers.keys()) decoding.event(1, "cudart/calls.frame", { stack: 0xa0 + i, depth: LAUNCHER, address: 0x5000 + i });
  assert.equal(launched(0xa0, 10), "0xa0");
  const places = launchers.map((name, i) => ({ at: 0x5000 + i, file: "engine", name, offset: 0 }));
  decoding.fact(20, { fact: "places", pid: 100, places });
  assert.deepEqual([0xa0, 0xa1, 0xa2].map((kernel) => launched(kernel, 21)), ["scale<float>", "launched by launch_all", "0xa2"]);
  decoding.event(22, "cudart/calls.frame", { stack: 0xa3, depth: LAUNCHER, address: 0x5001 });
  assert.equal(launched(0xa3, 23), "launched by launch_all", "another one, from there");
  decoding.event(30, "cuda/calls.named", { function: 4 * 4096, began: 30, given: 0xf00, name: "square" });
  call("cuLaunchKernel", 41, 42, [0xf00, ...grid]);
  assert.equal(launched(0xa1, 40), "square");
});

Deno.test("gpu: what a kernel's handle stands for is not known after a time that nobody watched, and what lies at an address is", () => {
  const { decoding, call } = made();
  const grid = [1 + 2 ** 31, 1 + 2 ** 16 + 2 ** 27 + 2 ** 38, 7];
  let at = 40;
  const launched = (name: string, kernel: number) => {
    call(name, at, at + 9, [kernel, ...grid]);
    at += 10;
    return / kernel=(.*) returned=0$/.exec(decoding.told().findLast(isCall)!)?.[1];
  };
  const all = () => [
    launched("cuLaunchKernel", 0xf00),
    launched("cuLaunchKernel", 0xf01),
    launched("__cudaLaunchKernel", 0xa0),
    launched("cudaLaunchKernel", 0x6000),
    launched("cudaLaunchKernel", 0x7000),
  ];
  const name = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIhEESt5arrayIPcLm1EEEEviT0_T1_";
  const frames = () => {
    decoding.event(1, "cudart/calls.frame", { stack: 0xa0, depth: LAUNCHER, address: 0x5000 });
    decoding.event(1, "cudart/calls.frame", { stack: 0x6000, depth: 0, address: 0x6000 });
  };
  frames();
  // Of an address this is told once, however many turns there are.
  const places = [[0x5000, "_Z10launch_allPi"], [0x6000, "_Z20__device_stub__scalePf"]] as const;
  decoding.fact(2, { fact: "places", pid: 100, places: places.map(([at, name]) => ({ at, file: "engine", name, offset: 0 })) });
  decoding.event(3, "cuda/calls.named", { function: 4 * 4096, began: 3, given: 0xf00, name: `${name.slice(0, 64)}…` });
  call("cuKernelGetFunction", 4, 5, [0xf01, 0xf00]);
  call("cuLaunchKernel", 31, 32, [0xf00, ...grid]);
  call("cudaLaunchKernel", 30, 33, [0x7000, ...grid]);
  const fill = "at::native::vectorized_elementwise_kernel<…>";
  assert.deepEqual(all(), [fill, fill, "launched by launch_all", "__device_stub__scale", fill]);
  decoding.end(at = 100);
  // The rest of a name is nobody's now.
  decoding.event(101, "cuda/calls.more", { given: 0xf00, name: name.slice(64) });
  assert.deepEqual(all(), ["0xf00", "0xf01", "0xa0", "__device_stub__scale", "0x7000"]);
  frames();
  decoding.event(200, "cuda/calls.named", { function: 4 * 4096, began: 200, given: 0xf00, name: "rope" });
  assert.deepEqual(all(), ["rope", "0xf01", "launched by launch_all", "__device_stub__scale", "0x7000"]);
});

Deno.test("gpu: a kernel's name in pieces: of what follows a piece that was not full nothing is part of it", () => {
  const { decoding, call } = made();
  const launched = (kernel: number) => {
    call("cuLaunchKernel", 10, 11, [kernel, 1 + 2 ** 31, 1 + 2 ** 16 + 2 ** 27 + 2 ** 38, 0]);
    return / kernel=(.*) returned=0$/.exec(decoding.told().findLast(isCall)!)?.[1];
  };
  const name = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIhEESt5arrayIPcLm1EEEEviT0_T1_";
  decoding.event(1, "cuda/calls.named", { function: 4 * 4096, began: 1, given: 0xf00, name: `${name.slice(0, 64)}…` });
  assert.equal(launched(0xf00), "at::native::vectorized_elementwise_kernel<…>");
  decoding.event(2, "cuda/calls.more", { given: 0xf00, name: name.slice(64) });
  decoding.event(3, "cuda/calls.more", { given: 0xf00, name: "whatever" });
  assert.equal(
    launched(0xf00),
    "at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<unsigned char>, std::array<char*, (unsigned long)1> >",
  );
  decoding.event(4, "cuda/calls.named", { function: 4 * 4096, began: 4, given: 0xf01, name: "rope" });
  decoding.event(5, "cuda/calls.more", { given: 0xf01, name: "whatever" });
  assert.equal(launched(0xf01), "rope");
  call("cuKernelGetFunction", 6, 7, [0xf02, 0xf01]);
  assert.equal(launched(0xf02), "rope", "the function of a kernel");
  decoding.event(8, "cuda/calls.named", { function: 4 * 4096, began: 8, given: 0xf03, name: "" });
  assert.equal(launched(0xf03), "0xf03", "a name of nothing");
});

Deno.test("gpu: what a stream is given is on its row, where the call began: once, also where the runtime asks the driver for it", () => {
  const { decoding, call } = made();
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
  const { decoding, call } = made();
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
  const { decoding, call } = made();
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
  const { decoding, call } = made();
  call("cuMemAlloc_v2", 10, 20, [0xa000, 64], 0, "200");
  assert.deepEqual(decoding.told(), ['200/200 gpu.cuda "unknown call" 10–20']);
});

Deno.test("gpu: device files by whoever uses them, what failed by its errno", () => {
  const { decoding } = made();
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
