/** Is what the engine script says about itself true? Asked of the kernel before any other test relies on it. */
import assert from "node:assert/strict";
import { sampledTest } from "../harness/kernel.ts";
import { type EngineOptions, engineRun } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { countCalls } from "./calls.ts";

const once: readonly (Omit<EngineOptions, "model"> & { decodes: number })[] = [
  { prompt: 1, tokens: 1, decodes: 1 },
  { prompt: 16, tokens: 2, decodes: 2 },
  { prompt: 23, promptBatch: 7, tokens: 5, decodes: 4 + 4 },
  { prompt: 21, promptBatch: 7, tokens: 3, decodes: 3 + 2 },
];

sampledTest(0, "llama_decode is called as often as the engine script says", { engine: true }, async ({ path: bpftrace }) => {
  // Which CPU variant is kept, and thus what to attach to, only a run can say.
  const { libllama, libggmlCpu } = (await engineRun({ model: model("tiny"), tokens: 1 })).files;
  const functions = { [libllama]: ["llama_decode"], [libggmlCpu]: ["ggml_graph_compute"] };
  for (const { decodes, ...options } of once) {
    const whileRunning = () => engineRun({ model: model("tiny"), ...options });
    const calls = await countCalls({ bpftrace, functions, whileRunning });
    const { pid, decodes: said } = calls.value;
    assert.equal(said, decodes);
    assert.equal(calls.of("llama_decode", pid), decodes);
    assert.equal(calls.of("ggml_graph_compute", pid), decodes, "one graph a call");
  }
});

sampledTest(1, "every call computes the same number of nodes when the prompt fits into one batch", { engine: true }, async ({ path: bpftrace }) => {
  const { libggmlCpu } = (await engineRun({ model: model("tiny"), tokens: 1 })).files;
  const functions = { [libggmlCpu]: ["ggml_cpu_extra_compute_forward"] };
  const nodes = async (tokens: number, threads: number) => {
    const whileRunning = () => engineRun({ model: model("tiny"), prompt: 13, tokens, threads });
    const calls = await countCalls({ bpftrace, functions, whileRunning });
    return calls.of("ggml_cpu_extra_compute_forward", calls.value.pid);
  };
  const perGraph = await nodes(1, 1);
  assert.equal(await nodes(7, 1), 7 * perGraph);
  assert.equal(await nodes(3, 2), 3 * 2 * perGraph, "each thread enters each node");
});
