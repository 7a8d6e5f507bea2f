import assert from "node:assert/strict";
import { join } from "node:path";
import { mustRun } from "../harness/command.ts";
import { kernelTest } from "../harness/kernel.ts";
import { built } from "../setup/programs.ts";
import { runLlmprof } from "./llmprof.ts";

Deno.test("gpu --list-calls says which functions are decoded, and what for", async () => {
  const { code, stdout } = await runLlmprof(["gpu", "--list-calls"]);
  assert.equal(code, 0);
  assert.match(stdout, /^cuMemAlloc +cuda, alloc$/m);
  assert.match(stdout, /^ncclAllReduce +nccl, collective$/m);
  const json = JSON.parse((await runLlmprof(["gpu", "--list-calls", "--summary", "json"])).stdout);
  assert.equal(json.calls.length, stdout.trimEnd().split("\n").length);
});

kernelTest("gpu --list-calls of a file tells each function of a GPU library that it asks for, as nm does", { gcc: true }, async () => {
  const file = join(built.gpu.protected, "calls");
  const { stdout: symbols } = await mustRun(["nm", "-D", "--undefined-only", file]);
  const asked = symbols.split("\n").map((line) => line.trim().split(/\s+/).at(-1)!).filter((name) => /^(?:cu|cuda|nccl)[A-Z]/.test(name)).sort();
  const { calls } = JSON.parse((await runLlmprof(["gpu", "--list-calls", "--summary", "json", "--", file])).stdout);
  assert.deepEqual(calls.map((call: { function: string }) => call.function), asked);
  assert.deepEqual(calls.filter((call: { kind: string | null }) => call.kind === null), []);
});

Deno.test("gpu --list-calls of what is no program says so", async () => {
  const none = await runLlmprof(["gpu", "--list-calls", "--", "/nowhere/at-all"]);
  assert.equal(none.code, 1);
  assert.match(none.stderr, /^Cannot read \/nowhere\/at-all\./);
  const text = await runLlmprof(["gpu", "--list-calls", "--", "README.md"]);
  assert.match(text.stderr, /It is no 64-bit ELF file\./);
});
