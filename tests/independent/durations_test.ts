import assert from "node:assert/strict";
import { mustRun } from "../harness/command.ts";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { parseEngineLog } from "../workloads/engine_log.ts";
import { engineRun, ownEngineCommand } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { shapes } from "../workloads/shapes.ts";
import { measureDurations, median, mulMatFunctions } from "./durations.ts";

Deno.test("the median is the middle value, or the mean of the two in the middle", () => {
  assert.equal(median([9, 1, 5]), 5);
  assert.equal(median([4, 1, 2, 9]), 3);
});

sampledTest(
  0,
  "every matrix product of the model is measured once a graph, under its tensor's name",
  { engine: true },
  async ({ path: bpftrace }) => {
    using folder = temporary();
    const { files } = await engineRun({ model: model("tiny"), tokens: 1 });
    const argv = ownEngineCommand(folder, { model: model("small"), prompt: 5, tokens: 3 });
    const { calls, value } = await measureDurations({
      bpftrace,
      library: files.libggmlCpu,
      functions: mulMatFunctions,
      program: argv[0],
      whileRunning: async () => parseEngineLog((await mustRun(argv)).stdout),
    });
    const mine = calls.filter(({ pid }) => pid === value.pid);
    const ups = mine.filter(({ tensor }) => tensor.startsWith("ffn_up-"));
    assert.equal(ups.length, shapes.small.layers * value.decodes);
    assert.equal(new Set(ups.map(({ tensor }) => tensor)).size, shapes.small.layers);
    const inside = mine.every(({ start, durationNs }) => start > value.times.generateStart && start + BigInt(durationNs) < value.times.generateEnd);
    assert.ok(inside, "the engine's clock and the kernel's are one");
  },
);
