/** A real Vulkan: llama.cpp on Mesa's llvmpipe, whose submits and waits are counted beside by a program that knows nothing of ours. */
import assert from "node:assert/strict";
import { start } from "../harness/command.ts";
import { sampledTest } from "../harness/kernel.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";
import { countCalls } from "../independent/calls.ts";
import { errors } from "../judge/trace_processor.ts";
import { recordResultSchema } from "../../lib/commands/record_schema.ts";
import { engineCommand } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { outputPath } from "./live_run.ts";

/** The loader that the engine will map. */
const LOADER = "/usr/lib/x86_64-linux-gnu/libvulkan.so.1";
const ASKED = ["vkQueueSubmit", "vkQueueSubmit2", "vkWaitForFences", "vkQueueWaitIdle", "vkDeviceWaitIdle", "vkAllocateMemory", "vkFreeMemory"];
const TOKENS = 7;

sampledTest(
  1,
  "gpu: what llama.cpp asks of Vulkan, as often as it does, and for each token",
  { engine: true, vulkan: true, judge: true },
  async ({ path }) => {
    using folder = temporary();
    const whileRunning = async () => {
      const flags = ["--bpftrace", path, "--layers", "operators,gpu", "--summary", "json", "-o", outputPath(folder, "pftrace")];
      const target = engineCommand({ model: model("tiny"), prompt: 8, tokens: TOKENS, gpuLayers: 2 });
      await using running = start([...llmprof, "record", ...flags, "--", ...target], { cwd: folder.path, timeoutMilliseconds: 180_000 });
      const ended = await running.finished();
      assert.equal(ended.code, 0, ended.stderr);
      return JSON.parse(ended.stdout);
    };
    const { of, value } = await countCalls({ bpftrace: path, functions: { [LOADER]: ASKED }, whileRunning });
    const counted = (name: string) => of(name, value.target.pid);
    const { gpu, operators } = recordResultSchema.parse(value.result);
    assert.equal(value.events.lost, value.events.skipped);
    const told = new Map(gpu!.functions.map(({ name, calls }) => [name, calls]));
    for (const name of ASKED) assert.equal(told.get(name) ?? 0, counted(name), name);
    const submits = counted("vkQueueSubmit") + counted("vkQueueSubmit2");
    assert.ok(submits > TOKENS, `${submits} submits`);
    assert.equal(gpu!.totals.submits, submits);
    assert.equal(gpu!.perToken!.tokens, operators!.tokens.decodeCalls);
    assert.deepEqual(await errors(outputPath(folder, "pftrace")), []);
  },
);
