/** A slice names the tensor that was computed, also after the engine has built its graph anew. */
import assert from "node:assert/strict";
import { matrixTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { computedTensors } from "../independent/tensors.ts";
import { engineCommand, engineRun } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { outputPath, startLlmprof, summaryOf } from "./live_run.ts";
import { built } from "../setup/programs.ts";
import { query } from "../judge/trace_processor.ts";

matrixTest("operators: every slice names the tensor that was computed", { engine: true, judge: true }, async ({ path: bpftrace }) => {
  using folder = temporary();
  // The prompt makes one graph, the first token another, and every 256th position one with more cells of the cache.
  const options = { model: model("tiny"), prompt: 16, tokens: 300 };
  const library = (await engineRun({ ...options, tokens: 1 })).files.libggmlCpu;
  const { tensors, value } = await computedTensors({
    bpftrace,
    library,
    whileRunning: async () => {
      await using llmprof = startLlmprof("operators", { bpftrace, folder, target: { argv: engineCommand(options) } });
      return summaryOf("operators", await llmprof.finished());
    },
  });
  const shape = (ne: readonly number[]) => ne.slice(0, Math.max(2, 1 + ne.findLastIndex((n) => n !== 1))).join("×");
  const expected = tensors.filter(({ pid }) => pid === value.target!.pid).map(({ name, ne }) => `${name} ${shape(ne)}`);
  const found = (await query(outputPath(folder, "pftrace"), slices)).map(({ tensor, shape }) => `${String(tensor).slice(0, 31)} ${shape}`);
  assert.equal(found.length, value.result.operators.reduce((sum, { calls }) => sum + calls, 0));
  assert.deepEqual(found, expected);
  assert.ok(new Set(expected).size > 40, "more than one graph was built");
});

matrixTest(
  "operators: a ggml that lays out its tensors otherwise is timed without names",
  { engine: false, judge: false },
  async ({ path: bpftrace }) => {
    using folder = temporary();
    const tables = await Promise.all([built.paced, built.changed].map(async (program) => {
      await using llmprof = startLlmprof("operators", { bpftrace, folder, target: { argv: [program, "2000", "1"] } });
      const { result, notes, events } = summaryOf("operators", await llmprof.finished());
      assert.deepEqual([events.lost, events.received], [0, events.emitted]);
      assert.equal(result.graphs.nodes, result.operators.reduce((sum, { calls }) => sum + calls, 0));
      return { names: result.operators.filter(({ calls }) => calls > 0).map(({ name }) => name), notes };
    }));
    const [known, changed] = tables as [typeof tables[0], typeof tables[0]];
    assert.deepEqual(known.names.toSorted(), ["ADD", "GLU", "MUL_MAT", "RMS_NORM", "ROPE", "SOFT_MAX"]);
    assert.ok(!known.notes.some((note) => note.includes("lays out its tensors")));
    assert.deepEqual(changed.names, ["unknown operator"]);
    assert.equal(changed.notes.filter((note) => note.includes("lays out its tensors")).length, 1);
  },
);

const slices = `
select extract_arg(s.arg_set_id, 'debug.tensor') as tensor, extract_arg(s.arg_set_id, 'debug.shape') as shape
from slice s join track t on t.id = s.track_id
where s.category = 'ggml.op' and t.name = 'worker 0' order by s.ts`;
