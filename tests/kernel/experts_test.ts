/** Which experts a mixture used, by models whose routers send each token to experts that are known beforehand. */
import assert from "node:assert/strict";
import type { Bpftrace } from "../harness/bpftraces.ts";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { query } from "../judge/trace_processor.ts";
import { parseEngineLog } from "../workloads/engine_log.ts";
import { engineCommand } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { expertsOf } from "../workloads/router.ts";
import { shapes } from "../workloads/shapes.ts";
import { outputPath, startLlmprof, summaryOf } from "./live_run.ts";

const TOKENS = 23;

for (const [index, name] of (["routed2of8", "routed8of8", "routed2of64", "routed8of64"] as const).entries()) {
  for (const prompt of [1, 17]) {
    const test = async ({ path: bpftrace }: Bpftrace) => {
      const shape = shapes[name];
      using folder = temporary();
      const log = folder.file("log");
      const argv = engineCommand({ model: model(name), prompt, tokens: TOKENS, threads: 2, log });
      await using llmprof = startLlmprof("operators", { bpftrace, folder, target: { argv } });
      const { result, events } = summaryOf("operators", await llmprof.finished());
      assert.deepEqual([events.lost, events.received], [0, events.emitted]);
      const { promptIds, sampledIds } = parseEngineLog(Deno.readTextFileSync(log));
      // The token that was sampled last is never decoded.
      const batches = [promptIds, ...sampledIds.slice(0, -1).map((token) => [token])];
      const expected = Array.from({ length: shape.layers }, (_, layer) => {
        // What follows the last layer is asked of the prompt's last token alone.
        const isLast = layer === shape.layers - 1;
        return batches.map((batch) => (isLast ? batch.slice(-1) : batch).map((token) => expertsOf(token, layer, shape)));
      });
      assert.deepEqual(
        result.experts?.layers.map(({ layer, experts, used, tokens, unread, counts }) => ({ layer, experts, used, tokens, unread, counts })),
        expected.map((layer, number) => {
          const chosen = layer.flat(2);
          const counts = Array.from({ length: shape.experts }, (_, expert) => chosen.filter((one) => one === expert).length);
          return { layer: number, experts: shape.experts, used: shape.expertsUsed, tokens: layer.flat().length, unread: 0, counts };
        }),
      );
      // Of each batch, in the trace.
      const rows = await query(outputPath(folder, "pftrace"), choices);
      const told = expected.map((layer) => layer.map((batch) => text(batch.flat())));
      assert.deepEqual(
        Array.from({ length: shape.layers }, (_, layer) => rows.filter((row) => Number(row.layer) === layer).map(({ chosen }) => String(chosen))),
        told,
      );
      const products = result.operators.find(({ name }) => name === "MUL_MAT_ID")!;
      // What a token's experts say is added up one by one, and is gathering.
      const [weighted, sums] = ["ffn_moe_weighted", "ffn_moe_out"].map((of) => result.tensors.find(({ name }) => name === of)!);
      assert.deepEqual([weighted!.calls, sums!.calls], [1, shape.expertsUsed - 1].map((times) => times * shape.layers * result.graphs.count));
      assert.ok(Math.abs(result.experts!.gatherNs - weighted!.totalNs - sums!.totalNs) < 1);
      const shared = result.experts!.layers.reduce((sum, { productsNs }) => sum + productsNs, 0);
      assert.ok(Math.abs(shared - products.totalNs) < 1, `${shared} of ${products.totalNs} ns of products were shared among experts`);
    };
    // Every model with one of the two, and each version with both.
    const isRare = index % 2 === (prompt === 1 ? 1 : 0);
    sampledTest(index >> 1, `experts: those of every token, ${name}, a prompt of ${prompt}`, { engine: true, judge: true }, test, isRare);
  }
}

/** `0 5×3 7`: experts in the order of their numbers, with how many tokens go there. */
function text(chosen: readonly number[]): string {
  const experts = [...new Set(chosen)].sort((a, b) => a - b);
  return experts.map((expert) => ({ expert, times: chosen.filter((one) => one === expert).length }))
    .map(({ expert, times }) => times === 1 ? `${expert}` : `${expert}×${times}`).join(" ");
}

const choices = `
select extract_arg(arg_set_id, 'debug.layer') as layer, extract_arg(arg_set_id, 'debug.chosen') as chosen
from slice where category = 'ggml.experts' order by ts`;
