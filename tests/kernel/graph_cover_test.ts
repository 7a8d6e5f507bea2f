/** The operators of a graph fill it, and what of a call is no graph is shown as such. */
import assert from "node:assert/strict";
import { renderText } from "../../exporters/text.ts";
import { presentOperators } from "../../lib/analysis/operators_present.ts";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { median } from "../independent/durations.ts";
import { engineCommand } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { outputPath, startLlmprof, summaryOf } from "./live_run.ts";
import { slicesOf, type TraceSlice } from "./trace_figures.ts";

sampledTest(
  0,
  "operators sum to their graph within 1 %, and the rest of the call is outside the graph",
  { engine: true, judge: true },
  async (bpftrace) => {
    using folder = temporary();
    const argv = engineCommand({ model: model("small"), tokens: 40 });
    await using llmprof = startLlmprof("operators", { bpftrace: bpftrace.path, folder, target: { argv } });
    const { result } = summaryOf("operators", await llmprof.finished());
    const path = outputPath(folder, "pftrace");
    const graphs = await slicesOf(path, "ggml.graph");
    const covered = coverage(graphs, await slicesOf(path, "ggml.op"));
    assert.equal(graphs.length, 40);
    assert.ok(Math.abs(median(covered.shares) - 1) <= 0.01, `median graph: ${median(covered.shares)}`);
    assert.ok(Math.abs(covered.total - 1) <= 0.01, `all graphs: ${covered.total}`);

    const length = (slices: readonly TraceSlice[]) => slices.reduce((sum, { start, end }) => sum + Number(end - start), 0);
    const outside = length(await slicesOf(path, "llama.decode")) - length(graphs);
    assert.ok(outside > 0);
    assert.equal(result.time.outsideGraphNs, outside);
    const text = renderText(presentOperators(result), { width: 120, colour: false });
    assert.match(text, /outside the graph/i);
  },
);

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
