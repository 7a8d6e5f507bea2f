import assert from "node:assert/strict";
import { join } from "node:path";
import { listedCallsSchema } from "../../mod.ts";
import { mustRun } from "../harness/command.ts";
import { makeElf } from "../harness/elf.ts";
import { kernelTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { built } from "../setup/programs.ts";
import { runLlmprof } from "./llmprof.ts";

async function listed(...files: readonly string[]) {
  const { stdout } = await runLlmprof(["gpu", "--list-calls", "--summary", "json", ...files.flatMap((file) => ["--", file])]);
  return listedCallsSchema.parse(JSON.parse(stdout));
}

Deno.test("gpu --list-calls says which functions are decoded, and what for", async () => {
  const { code, stdout, stderr } = await runLlmprof(["gpu", "--list-calls"]);
  assert.equal(code, 0);
  assert.match(stdout, /^cuMemAlloc +cuda, alloc$/m);
  assert.match(stdout, /^ncclAllReduce +nccl, collective$/m);
  const json = await listed();
  assert.equal(json.calls.length, stdout.trimEnd().split("\n").length);
  const [, all, each] = /^(\d+) functions are decoded: (.*)\. Not decoded is/m.exec(stderr)!;
  const sums = each!.split(", ").map((one) => Number(one.split(" ").at(-1)));
  assert.deepEqual([sums.length, sums.reduce((sum, one) => sum + one)], [7, Number(all)]);
  assert.equal(json.calls.length, Number(all));
});

kernelTest("gpu --list-calls of a GPU library tells each function that it offers, as nm does, decoded or not", { gcc: true }, async () => {
  using folder = temporary();
  const code = "90", offered = ["zeMemFree", "zeKernelSetGroupSize", "zeMemAllocDevice"];
  const library = folder.file("libze_loader.so.1");
  Deno.writeFileSync(library, makeElf(Object.fromEntries([...offered, "own"].map((name) => [name, code]))));
  const list = async (file: string) => (await listed(file)).calls;
  assert.deepEqual(await list(library), [
    { function: "zeKernelSetGroupSize", family: null, kind: null },
    { function: "zeMemAllocDevice", family: "levelzero", kind: "alloc" },
    { function: "zeMemFree", family: "levelzero", kind: "free" },
  ]);
  for (const name of ["libze_loader.so.1", "libamdhip64.so.6", "libcuda.so.1", "libnccl.so.2"]) {
    const file = join(built.gpu.protected, name);
    const { stdout: symbols } = await mustRun(["nm", "-D", "--defined-only", file]);
    const names = symbols.trimEnd().split("\n").map((line) => line.split(" ").at(-1)!).filter((name) => /^(?:ze|hip|cu|nccl)[A-Z]/.test(name)).sort();
    assert.ok(names.length > 5, name);
    assert.deepEqual((await list(file)).map((call) => call.function), names);
  }
});

kernelTest("gpu --list-calls of a file tells each function of a GPU library that it asks for, as nm does", { gcc: true }, async () => {
  const file = join(built.gpu.protected, "calls");
  const { stdout: symbols } = await mustRun(["nm", "-D", "--undefined-only", file]);
  const names = symbols.split("\n").map((line) => line.trim().split(/\s+/).at(-1)!);
  const asked = names.filter((name) => /^(?:cu|(?:__)?cuda|nccl|hip|ze)[A-Z]|Infer/.test(name)).sort();
  const { files, calls } = await listed(file);
  assert.deepEqual(files, [file]);
  assert.deepEqual(calls.map((call) => call.function), asked);
  assert.deepEqual(calls.filter(({ kind }) => kind === null), []);
});

Deno.test("gpu --list-calls of a file tells what is not decoded, too: what nobody knows, what compilers call, cuBLAS", async () => {
  using folder = temporary();
  const library = folder.file("libtorch_cuda.so");
  const asked = ["cublasCreate_v2", "cuNothing", "cuMemAlloc_v2", "__cudaRegisterFunction", "__cudaLaunchKernel", "curl_easy_init", "hipblasCreate"];
  Deno.writeFileSync(library, makeElf({ ...Object.fromEntries(asked.map((name) => [name, ""])), cuOwn: "90" }));
  const { stdout, stderr } = await runLlmprof(["gpu", "--list-calls", "--", library]);
  assert.deepEqual(stdout.trimEnd().split("\n").map((line) => line.split(/ {2,}/)), [
    ["__cudaLaunchKernel", "cudart, launch"],
    ["__cudaRegisterFunction", "not decoded"],
    ["cuMemAlloc_v2", "cuda, alloc"],
    ["cuNothing", "not decoded"],
    ["cublasCreate_v2", "not decoded"],
    ["hipblasCreate", "not decoded"],
  ]);
  assert.match(stderr, /^6 functions of GPU libraries are asked for or offered: 2 decoded, 4 not\.$/m);
});

Deno.test("gpu --list-calls of what is no program says so", async () => {
  const none = await runLlmprof(["gpu", "--list-calls", "--", "/nowhere/at-all"]);
  assert.equal(none.code, 1);
  assert.match(none.stderr, /^Cannot read \/nowhere\/at-all\./);
  const text = await runLlmprof(["gpu", "--list-calls", "--", "README.md"]);
  assert.match(text.stderr, /It is no 64-bit ELF file\./);
});
