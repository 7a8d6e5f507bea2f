/** llama.cpp with a part of its layers on a real GPU: calls, copies and kernels as CUPTI counts them in the same run. See tests/workloads/gpu/cupti.c. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { recordResultSchema } from "../../lib/commands/record_schema.ts";
import { mustRun, start } from "../harness/command.ts";
import { findProgram } from "../harness/find_program.ts";
import { matrixTest } from "../harness/kernel.ts";
import { llmprof } from "../harness/llmprof.ts";
import { top } from "../harness/places.ts";
import { temporary } from "../harness/temporary.ts";
import { parseEngineLog } from "../workloads/engine_log.ts";
import { engineCommand } from "../workloads/engine_run.ts";
import { tensorBytes } from "../workloads/gguf.ts";
import { llamaTensors } from "../workloads/llama.ts";
import { model } from "../workloads/model.ts";
import { shapes } from "../workloads/shapes.ts";
import { copiedBy, type Moved, shortKernel, toldCalls } from "./gpu_run.ts";
import { outputPath } from "./live_run.ts";

/** What CUPTI counted. */
type Book = Readonly<Record<"calls" | "moved" | "kernels", Readonly<Record<string, Moved>>>>;

const GPU_LAYERS = 6, TOKENS = 41;

/** Before CUPTI is there, or when it has gone. */
const OUTSIDE = new Set(["cuInit", "cuDriverGetVersion", "cuGetProcAddress", "cuDevicePrimaryCtxRelease", "cuLibraryUnload"]);

matrixTest("gpu: llama.cpp on CUDA: calls, copies and kernels are those that CUPTI counts", { cuda: true, cudaEngine: true }, async ({ path }) => {
  using folder = temporary();
  const counting = folder.file("counting.so"), log = folder.file("log"), book = folder.file("book");
  await build(counting);
  const options = { model: model("small"), prompt: 8, tokens: TOKENS, gpu: "cuda", gpuLayers: GPU_LAYERS, log } as const;
  const outputs = ["-o", outputPath(folder, "jsonl")];
  const flags = ["--layers", "operators,gpu", "--every-call", "--bpftrace", path, "--summary", "json", ...outputs];
  const env = { CUDA_INJECTION64_PATH: counting, CUPTI_BOOK: book };
  await using running = start([...llmprof, "record", ...flags, "--", ...engineCommand(options)], { env, timeoutMilliseconds: 120_000 });
  const summary = JSON.parse((await running.succeeded()).stdout);
  const { gpu, operators } = recordResultSchema.parse(summary.result), offload = operators!.offload!;
  const { pid } = parseEngineLog(Deno.readTextFileSync(log));
  const counted: Book = JSON.parse(Deno.readTextFileSync(`${book}.${pid}`));
  assert.equal(summary.events.lost, 0);

  const [asked, done] = ["cudart", "cuda"].map((family) => toldCalls(outputPath(folder, "jsonl"), family).filter((call) => call.pid === pid));
  const calls = new Map<string, number>();
  for (const { func } of [...asked!, ...done!]) if (!OUTSIDE.has(func)) calls.set(func, (calls.get(func) ?? 0) + 1);
  assert.deepEqual(calls, byName(counted.calls, (name) => name.replace(/(_v\d+|_pt[sd][zs])+$/, "")));

  for (const direction of ["host to device", "device to host"]) assert.deepEqual(copiedBy(asked!, direction), counted.moved[direction], direction);

  // Of these all were recorded into a graph, and happen when that is launched.
  const onDevice = gpu!.copies.filter(({ direction }) => direction.startsWith("on the device"));
  assert.deepEqual(onDevice.map(({ copies: times, bytes }) => ({ times, bytes })), [counted.moved["on the device"]]);
  const ran = new Map<string, number>();
  for (const { name, launches, inGraphs } of gpu!.kernels) ran.set(shortKernel(name), (ran.get(shortKernel(name)) ?? 0) + launches + inGraphs);
  const mangled = Object.keys(counted.kernels);
  const names = (await mustRun(["c++filt"], { stdin: mangled.join("\n") })).stdout.split("\n");
  assert.deepEqual(ran, byName(counted.kernels, (name) => shortKernel(names[mangled.indexOf(name)]!)));

  // ggml's view of the same: its scheduler copies all that is copied but the weights, and each token is one graph.
  const { layers } = shapes.small, first = layers - GPU_LAYERS + 1, there = Array.from({ length: layers - first }, (_, i) => first + i);
  const [device] = offload.devices.filter(({ name }) => name === "CUDA0");
  const own = offload.devices.find(({ name }) => name === "CPU")!;
  assert.deepEqual(new Set([...device!.layers, ...own.layers]), new Set(Array.from({ length: layers }, (_, i) => i)));
  assert.ok(there.every((layer) => device!.layers.includes(layer)), `CUDA0 computes ${device!.layers.join(", ")}`);
  const isThere = (name: string) => device!.layers.some((layer) => name.startsWith(`blk.${layer}.`)) || device!.output && name.startsWith("output");
  const weights = llamaTensors(shapes.small).filter(({ name }) => isThere(name));
  const copies = (way: "to" | "from") => {
    const moved = offload.copies.filter((copy) => copy.way === way && !copy.name.endsWith(".weight"));
    return { times: moved.reduce((sum, { calls }) => sum + calls, 0), bytes: moved.reduce((sum, { bytes }) => sum + bytes, 0) };
  };
  const { times, bytes } = counted.moved["host to device"]!;
  assert.deepEqual(copies("to"), { times: times - weights.length, bytes: bytes - weights.reduce((sum, tensor) => sum + tensorBytes(tensor), 0) });
  assert.deepEqual(copies("from"), counted.moved["device to host"]);
  assert.equal(gpu!.perToken!.tokens, TOKENS - 1);
});

/** The library that counts, with the headers of the CUDA that nvcc is of. */
async function build(library: string): Promise<void> {
  const cuda = dirname(dirname(Deno.realPathSync(findProgram("nvcc") ?? "/usr/local/cuda/bin/nvcc")));
  const folders = [cuda, join(cuda, "extras", "CUPTI")].flatMap((folder) => [`-I${folder}/include`, `-L${folder}/lib64`, `-L${folder}/lib`]);
  const source = join(top, "tests", "workloads", "gpu", "cupti.c");
  await mustRun(["cc", "-O1", "-shared", "-fPIC", source, "-o", library, ...folders, "-lcupti", "-pthread"]);
}

/** How often, by a name that several may share. */
function byName(rows: Readonly<Record<string, Moved>>, nameOf: (name: string) => string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [name, { times }] of Object.entries(rows)) {
    if (!OUTSIDE.has(nameOf(name))) sums.set(nameOf(name), (sums.get(nameOf(name)) ?? 0) + times);
  }
  return sums;
}
