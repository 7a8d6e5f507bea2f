/** The operators of a graph fill it, and what of a call is no graph is shown as such. */
import assert from "node:assert/strict";
import { renderText } from "../../../exporters/text.ts";
import { presentOperators } from "../../../lib/analysis/operators_present.ts";
import { sampledTest } from "../../harness/kernel.ts";
import { temporary } from "../../harness/temporary.ts";
import { median } from "../../independent/durations.ts";
import { engineCommand } from "../../workloads/engine_run.ts";
import { model } from "../../workloads/model.ts";
import { outputPath, startLlmprof, summaryOf } from "../live_run.ts";
import { slicesOf, type TraceSlice } from "../trace_figures.ts";

sampledTest(
  0,
  "operators sum to their graph within 1 %, and the rest of the call is outside the graph",
  { engine: true, judge: true },
  async ({ path: bpftrace }) => {
    // Where the thread lost its processor between two operators a graph is longer than they are, by up to a tenth: such a run is made again.
    const totals: number[] = [];
    while (totals.length < 3) {
      const total = await covered(bpftrace);
      if (Math.abs(total - 1) <= 0.01) return;
      totals.push(total);
    }
    assert.fail(`all graphs, in three runs: ${totals.join(", ")}`);
  },
);

/** Share of all graphs of a run that its operators add up to. */
async function covered(bpftrace: string): Promise<number> {
  using folder = temporary();
  const argv = engineCommand({ model: model("small"), tokens: 40 });
  await using llmprof = startLlmprof("operators", { bpftrace, folder, target: { argv } });
  const { result } = summaryOf("operators", await llmprof.finished());
  const path = outputPath(folder, "pftrace");
  const graphs = await slicesOf(path, "ggml.graph");
  const { shares, total } = coverage(graphs, await slicesOf(path, "ggml.op"));
  assert.equal(graphs.length, 40);
  assert.ok(Math.abs(median(shares) - 1) <= 0.01, `median graph: ${median(shares)}`);

  const length = (slices: readonly TraceSlice[]) => slices.reduce((sum, { start, end }) => sum + Number(end - start), 0);
  const outside = length(await slicesOf(path, "llama.decode")) - length(graphs);
  assert.ok(outside > 0);
  assert.equal(result.time.outsideGraphNs, outside);
  const text = renderText(presentOperators(result), { width: 120, colour: false });
  assert.match(text, /outside the graph/i);
  return total;
}

/** Share of each graph, and of all together, that the operators within it add up to. */
function coverage(graphs: readonly TraceSlice[], ops: readonly TraceSlice[]): { shares: number[]; total: number } {
  let at = 0;
  const sums = graphs.map(({ start, end }) => {
    let sum = 0;
    for (; at < ops.length && ops[at]!.start < end; at++) if (ops[at]!.start >= start) sum += Number(ops[at]!.end - ops[at]!.start);
    return { sum, length: Number(end - start) };
  });
  const [all, length] = [sums.reduce((total, { sum }) => total + sum, 0), sums.reduce((total, graph) => total + graph.length, 0)];
  return { shares: sums.map((graph) => graph.sum / graph.length), total: all / length };
}
