/** Less detail: what is left is counted as exactly, and nothing of the rest is attached. */
import assert from "node:assert/strict";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { parseEngineLog } from "../workloads/engine_log.ts";
import { engineCommand } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { allFormats, outputPath, startLlmprof, summaryOf } from "./live_run.ts";
import { differingReplays } from "./replayed.ts";
import { slicesOf } from "./trace_figures.ts";

for (const [index, detail] of (["graph", "token"] as const).entries()) {
  sampledTest(
    index,
    `--detail ${detail}: calls are the engine's own count, and no operator is looked at`,
    { engine: true, judge: true },
    async ({ path }) => {
      using folder = temporary();
      const log = folder.file("log");
      const argv = engineCommand({ model: model("tiny"), tokens: 17, log });
      await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { argv }, formats: allFormats, flags: ["--detail", detail] });
      const { result, probes, events } = summaryOf("operators", await llmprof.finished());
      const said = parseEngineLog(Deno.readTextFileSync(log));
      assert.equal(result.detail, detail);
      assert.deepEqual([result.tokens.prefillCalls, result.tokens.decodeCalls], [said.prompt.decodes, said.generated.decodes]);
      assert.deepEqual([result.tokens.prefill, result.tokens.decode], [said.prompt.tokens, said.generated.decodes]);
      assert.equal(result.graphs.count, detail === "graph" ? said.decodes : 0);
      assert.equal(result.time.graphNs === null, detail === "token");
      assert.deepEqual(result.operators, []);
      assert.deepEqual([events.lost, events.received], [0, events.emitted]);
      const placed = new Set(probes.filter(({ hits }) => hits).map(({ name }) => name.split("/")[0]));
      assert.equal(placed.has("ggml"), detail === "graph");
      assert.ok(!probes.some(({ name }) => name === "ggml/ops"));
      assert.equal((await slicesOf(outputPath(folder, "pftrace"), "llama.decode")).length, said.decodes);
      assert.equal((await slicesOf(outputPath(folder, "pftrace"), "ggml.graph")).length, result.graphs.count);
      assert.deepEqual(await differingReplays(folder, ["pftrace", "json", "jsonl"]), []);
    },
  );
}
