import assert from "node:assert/strict";
import { FUNCTIONS, gpuCalls } from "../../tests/harness/gpu_calls.ts";
import { LAUNCHER } from "./calls.ts";

/** Among what is told: not what a stream was given. */
const isCall = (line: string) => line.endsWith(" returned=0");

Deno.test("gpu: a kernel by the name under which it was asked for; one that is recorded into a graph is no launch", () => {
  const { decoding, call } = gpuCalls();
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
  const { decoding, call } = gpuCalls();
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
    const { decoding, call } = gpuCalls();
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

Deno.test("gpu: a stream that is told to wait while a graph is recorded waits in the graph, and not by itself", () => {
  const gaps = (isRecorded: boolean) => {
    const { decoding, call } = gpuCalls();
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

Deno.test("gpu: a stream that each thread has is recorded for one of them: by its handle, and by functions that mean it where none is named", () => {
  const { decoding, call } = gpuCalls();
  const grid = [1 + 2 ** 31, 1 + 2 ** 16 + 2 ** 27 + 2 ** 38], PER_THREAD = 2;
  call("cuStreamBeginCapture_v2", 1, 2, [PER_THREAD]);
  call("cuLaunchKernel_ptsz", 3, 4, [0xf0, ...grid, 0]);
  call("cuLaunchKernel", 5, 6, [0xf1, ...grid, PER_THREAD], 0, "100/101");
  call("cuLaunchKernel", 7, 8, [0xf2, ...grid, 0]);
  call("cuStreamEndCapture", 9, 10, [0x6b, PER_THREAD], 0, "100/101");
  call("cuLaunchKernel", 11, 12, [0xf3, ...grid, PER_THREAD]);
  call("cuStreamEndCapture", 13, 14, [0x6a, PER_THREAD]);
  call("cuGraphInstantiateWithFlags", 15, 16, [0xe0, 0x6a]);
  call("cuGraphLaunch", 17, 18, [0xe0, 7]);
  const calls = decoding.spans.flatMap((span) => span.type === "slice" && span.gpu ? [span.gpu] : []);
  assert.deepEqual(calls.flatMap(({ kernel, isCaptured = false }) => kernel === undefined ? [] : [[kernel, isCaptured]]), [
    ["0xf0", true],
    ["0xf1", false],
    ["0xf2", false],
    ["0xf3", true],
  ]);
  assert.deepEqual([...calls.at(-1)!.graph!.kernels], [["0xf0", 1], ["0xf3", 1]]);
});

Deno.test("gpu: a kernel that the runtime knows by no name is called what the driver launches for it", () => {
  const { decoding, call } = gpuCalls();
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
  const { decoding, call } = gpuCalls();
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
  const { decoding, call } = gpuCalls();
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
  const fill = "at::native::vectorized_elementwise_kernel<Li4ENS0_11FillFunct…>";
  assert.deepEqual(all(), [fill, fill, "launched by launch_all", "scale", fill]);
  decoding.end(at = 100);
  // The rest of a name is nobody's now.
  decoding.event(101, "cuda/calls.more", { given: 0xf00, name: name.slice(64) });
  assert.deepEqual(all(), ["0xf00", "0xf01", "0xa0", "scale", "0x7000"]);
  frames();
  decoding.event(200, "cuda/calls.named", { function: 4 * 4096, began: 200, given: 0xf00, name: "rope" });
  assert.deepEqual(all(), ["rope", "0xf01", "launched by launch_all", "scale", "0x7000"]);
});

Deno.test("gpu: a kernel that clang compiled has the name of the constant by which it is known, or that within the name of what launches it", () => {
  const { decoding, call } = gpuCalls();
  const known = [["_Z2g1i", "g1"], ["plain", "plain"], ["_ZN2ns23__device_stub__nskernelEv", "ns::nskernel"], [
    "__device_stub__plain",
    "plain",
  ]] as const;
  const places = known.map(([name], i) => ({ at: 0x6000 + i, file: "app", name, offset: 0 }));
  decoding.fact(2, { fact: "places", pid: 100, places });
  for (const [i, [, name]] of known.entries()) {
    call("cudaLaunchKernel", 10 * i + 10, 10 * i + 12, [0x6000 + i, 1 + 2 ** 31, 1 + 2 ** 16 + 2 ** 27 + 2 ** 38, 0]);
    assert.equal(/ kernel=(.*) returned=0$/.exec(decoding.told().findLast(isCall)!)?.[1], name);
  }
});

Deno.test("gpu: a kernel's name in pieces: of what follows a piece that was not full nothing is part of it", () => {
  const { decoding, call } = gpuCalls();
  const launched = (kernel: number) => {
    call("cuLaunchKernel", 10, 11, [kernel, 1 + 2 ** 31, 1 + 2 ** 16 + 2 ** 27 + 2 ** 38, 0]);
    return / kernel=(.*) returned=0$/.exec(decoding.told().findLast(isCall)!)?.[1];
  };
  const name = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIhEESt5arrayIPcLm1EEEEviT0_T1_";
  decoding.event(1, "cuda/calls.named", { function: 4 * 4096, began: 1, given: 0xf00, name: `${name.slice(0, 64)}…` });
  assert.equal(launched(0xf00), "at::native::vectorized_elementwise_kernel<Li4ENS0_11FillFunct…>");
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
  decoding.event(7, "cuda/calls.named", { function: 4096 * (FUNCTIONS.indexOf("cuKernelGetName") + 1), began: 7, given: 0xf04, name: "argmax" });
  assert.match(decoding.told()[0]!, /"cuKernelGetName" 7–7 function=0xf04 returned=0$/);
  assert.equal(launched(0xf04), "argmax", "by who asks what it is called");
  decoding.event(8, "cuda/calls.named", { function: 4 * 4096, began: 8, given: 0xf03, name: "" });
  assert.equal(launched(0xf03), "0xf03", "a name of nothing");
});
