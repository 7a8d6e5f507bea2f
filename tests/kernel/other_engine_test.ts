/** An engine that uses ggml without llama.cpp: each operator of each graph, and no tokens. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { countedCalls } from "../workloads/counted.ts";
import { built } from "../setup/programs.ts";
import { start } from "../harness/command.ts";
import { startLlmprof, summaryOf } from "./live_run.ts";

const program = join(built.counted, "counted"), library = `load=${join(built.counted, "libwhisper.so")}`;

sampledTest(
  0,
  "another engine than llama.cpp, started: stopped once its backend is chosen, and seen from its first graph on",
  { gcc: true },
  async ({ path }) => {
    using folder = temporary();
    await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { argv: [program, library, "call"] }, formats: [] });
    isAll(await llmprof.finished());
  },
);

sampledTest(1, "another engine than llama.cpp, while it runs", { gcc: true }, async ({ path }) => {
  using folder = temporary();
  const go = folder.file("go");
  await using engine = start([program, library, "say=ready", `wait=${go}`, "call"]);
  await engine.saw("ready");
  await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { pid: engine.pid }, formats: [] });
  await llmprof.saw("Tracing");
  Deno.writeTextFileSync(go, "");
  await engine.succeeded();
  isAll(await llmprof.finished());
});

function isAll(finished: Parameters<typeof summaryOf>[1]): void {
  const { result, events } = summaryOf("operators", finished);
  assert.deepEqual([events.lost, events.received], [0, events.emitted]);
  const calls = result.operators.reduce((sum, row) => sum + row.calls, 0);
  assert.deepEqual([result.graphs.count, calls, result.tokens.prefillCalls + result.tokens.decodeCalls], [
    countedCalls.graphs,
    countedCalls.operators,
    0,
  ]);
}
