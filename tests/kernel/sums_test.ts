/** Operators that are added up in the kernel: as many as there were, and as long as they took. */
import assert from "node:assert/strict";
import type { OperatorsResult } from "../../lib/analysis/operators_schema.ts";
import { start } from "../harness/command.ts";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { built } from "../setup/programs.ts";
import { parseEngineLog } from "../workloads/engine_log.ts";
import { engineCommand } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { allFormats, outputPath, startLlmprof, summaryOf } from "./live_run.ts";
import { onProcessorNs, until } from "./processes.ts";
import { differingReplays } from "./replayed.ts";
import { slicesOf } from "./trace_figures.ts";

/** A prime; of timed.c's tokens a graph is made anew at every 97th, and one a second is drawn. */
const CALLS = 701;

sampledTest(
  1,
  "--detail sum: each operator as often and as long as the engine says, prompt and tokens apart",
  { engine: false, judge: true },
  async ({ path }) => {
    using folder = temporary();
    const log = folder.file("log");
    const target = { argv: [built.timed, String(CALLS), log] };
    await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target, formats: allFormats, flags: ["--detail", "sum"] });
    const { result, events } = summaryOf("operators", await llmprof.finished());
    assert.deepEqual([events.lost, events.received, result.detail], [0, events.emitted, "sum"]);
    assert.equal(result.graphs.count, CALLS + 1);
    const said = Deno.readTextFileSync(log).trimEnd().split("\n").map((line) => line.split(" "));
    for (const [phase, tensor, calls, fewest, most] of said as [("prefill" | "decode"), string, string, string, string][]) {
      const row = result.tensors.find(({ name }) => name === tensor.replace(/-\d$/, ""))![phase];
      assert.equal(row.calls, Number(calls), `${phase} ${tensor}`);
      const between = Number(fewest) <= row.totalNs && row.totalNs <= Number(most);
      assert.ok(between, `${phase} ${tensor}: ${row.totalNs} ns, and ${fewest} to ${most} by its own clock`);
    }
    assert.ok(sumsUp(result));
    // The prompt's, the tokens' first and every 97th, and one a second between these.
    const drawn = (await slicesOf(outputPath(folder, "pftrace"), "ggml.op")).length / 7;
    assert.ok(Number.isInteger(drawn) && drawn >= 2 + Math.floor((CALLS - 1) / 97) && drawn < 40, `${drawn} graphs were drawn`);
    assert.deepEqual(await differingReplays(folder, ["pftrace", "json", "jsonl"]), []);
  },
);

sampledTest(
  2,
  "operators: each by its name where a graph is computed part by part by one structure, told one by one or added up",
  { engine: false, judge: false },
  async ({ path }) => {
    for (const detail of ["op", "sum"]) {
      using folder = temporary();
      const log = folder.file("log");
      const target = { argv: [built.timed, "211", log, "2"] };
      await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target, flags: ["--detail", detail] });
      const { result, events } = summaryOf("operators", await llmprof.finished());
      assert.deepEqual([events.lost, events.received, result.graphs.count], [0, events.emitted, 4 * 212]);
      for (const line of Deno.readTextFileSync(log).trimEnd().split("\n")) {
        const [phase, tensor, calls] = line.split(" ") as ["prefill" | "decode", string, string];
        const row = result.tensors.find(({ name }) => name === tensor.replace(/-\d$/, ""));
        assert.equal(row?.[phase].calls, Number(calls), `${detail}: ${phase} ${tensor}`);
      }
      const operators = result.operators.filter(({ calls }) => calls > 0).map(({ name, calls }) => [name, calls]).sort();
      assert.deepEqual(operators, [["ADD", 424], ["MUL", 636], ["RMS_NORM", 424]], detail);
    }
  },
);

sampledTest(
  1,
  "--detail sum: a window that is shut in the middle of a graph ends in the middle of its sums",
  { engine: false, judge: false },
  async ({ path }) => {
    using folder = temporary();
    await using engine = start([built.timed, "40009", folder.file("log")]);
    const target = { pid: engine.pid };
    await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target, flags: ["--detail", "sum"] });
    await llmprof.saw("Tracing");
    // A graph takes at most 4 ms of a processor, on the average: its operators end by the clock, also where the engine waits for one.
    const before = onProcessorNs(engine.pid)!;
    await until("at least 600 graphs", () => onProcessorNs(engine.pid)! - before > 2.4e9);
    llmprof.kill("SIGINT");
    const { result, events } = summaryOf("operators", await llmprof.finished());
    engine.kill("SIGKILL");
    assert.deepEqual([events.lost, events.received], [0, events.emitted]);
    assert.ok(sumsUp(result));
    // By name, which is the order in the graph.
    const rows = result.tensors.filter(({ calls }) => calls > 0).sort((a, b) => (a.name < b.name ? -1 : 1));
    assert.equal(rows.length, 7);
    const { count, openCount } = result.graphs;
    assert.ok(count > 400 && openCount <= 1, `${count} graphs, ${openCount} open`);
    const last = rows.findLastIndex(({ openCalls }) => openCalls > 0);
    assert.deepEqual(rows.map(({ calls }) => calls), rows.map((_, i) => (i <= last ? count : count - openCount)));
    // Or all that began in it, where that graph was being drawn.
    const open = rows.reduce((sum, row) => sum + row.openCalls, 0);
    assert.ok(open === openCount || open === last + 1, `${open} operators open`);
    for (const { name, totalNs } of [...result.operators, ...rows]) assert.ok(totalNs > 0, `${name}: ${totalNs} ns`);
  },
);

sampledTest(1, "--detail sum: the operators of a real engine, as when each is told", { engine: true, judge: false }, async ({ path }) => {
  const counts = async (detail: "op" | "sum", threads: number) => {
    using folder = temporary();
    const log = folder.file("log");
    const target = { argv: engineCommand({ model: model("tiny"), prompt: 17, tokens: 101, threads, log }) };
    await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target, flags: ["--detail", detail] });
    const { result, events } = summaryOf("operators", await llmprof.finished());
    assert.deepEqual([events.lost, events.received], [0, events.emitted]);
    assert.equal(result.graphs.count, parseEngineLog(Deno.readTextFileSync(log)).decodes);
    assert.ok(sumsUp(result));
    const table = ({ operators, layers, tensors }: OperatorsResult) =>
      [operators, layers, tensors].map((rows) =>
        rows.filter(({ calls }) => calls > 0).map((
          row,
        ) => [Object.values(row)[0], row.calls, row.openCalls, row.prefill.calls, row.decode.calls, row.bytes, row.flops]).sort()
      );
    return { table: table(result), events: events.emitted };
  };
  for (const threads of Deno.env.has("LLMPROF_TEST_ALL") ? [1, 2] : [2]) {
    const each = await counts("op", threads), sums = await counts("sum", threads);
    assert.deepEqual(sums.table, each.table);
    assert.ok(sums.events < each.events / 3, `${sums.events} events instead of ${each.events}`);
  }
});

/** The rows of each table are the time in graphs, but for rounding. */
function sumsUp({ operators, layers, tensors, time }: OperatorsResult): boolean {
  return [operators, layers, tensors].every((rows) => Math.abs(rows.reduce((sum, { totalNs }) => sum + totalNs, 0) - time.graphNs!) < 10);
}
