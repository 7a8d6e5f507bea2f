/** Whatever becomes of llmprof, the target goes on. */
import assert from "node:assert/strict";
import { mustRun } from "../harness/command.ts";
import { heldBpftrace } from "../harness/held_bpftrace.ts";
import { matrixTest, sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { errors } from "../judge/trace_processor.ts";
import { parseEngineLog } from "../workloads/engine_log.ts";
import { engineCommand, startEngine } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { allFormats, outputPath, startLlmprof, summaryOf } from "./live_run.ts";
import { bpftracesOf, row, treeFrom, until } from "./processes.ts";
import { differingReplays } from "./replayed.ts";
import { slicesOf } from "./trace_figures.ts";

const needs = { engine: true, judge: true };

matrixTest(
  "llmprof is killed while the target stands at the second gate: the target ends as if nothing had been",
  needs,
  async ({ path }) => {
    using folder = temporary();
    // It stands there for as long as the probes of what it has chosen are not attached.
    const bpftrace = heldBpftrace(path, folder, "^uprobe:.*ggml_graph_compute");
    const log = folder.file("log");
    const argv = engineCommand({ model: model("tiny"), tokens: 5, log });
    await using llmprof = startLlmprof("operators", { bpftrace, folder, target: { argv } });
    await llmprof.saw(/Tracing process \d+/);
    const target = Number(/Tracing process (\d+)/.exec(llmprof.stderr())![1]);
    await llmprof.saw("library mapped");
    const held = () => bpftracesOf(llmprof.pid).some((pid) => row(pid)?.state === "T");
    // The target or the child in which it tries the engine: whoever comes there first.
    const stopped = await until("somebody stands at the second gate", () => held() && treeFrom(target).find(({ state }) => state === "T"));
    const bpftraces = bpftracesOf(llmprof.pid);
    llmprof.kill("SIGKILL");
    await until("nobody is stopped any more", () => row(stopped.pid)?.state !== "T", 5000);
    await until("the target has ended", () => row(target) === undefined);
    assert.equal(parseEngineLog(Deno.readTextFileSync(log)).generated.tokens, 5, "it did all its work");
    await until("no bpftrace is left", () => bpftraces.every((pid) => row(pid)?.name !== "bpftrace"));
  },
);

sampledTest(1, "Ctrl-C ends tracing and not the target: the trace is written, the code is 0", needs, async ({ path: bpftrace }) => {
  using folder = temporary();
  const [log, waitFile] = [folder.file("log"), folder.file("go")];
  await using engine = startEngine({ model: model("small"), tokens: 300, log, waitFile });
  await engine.saw('"waiting"');
  await using llmprof = startLlmprof("operators", { bpftrace, folder, target: { pid: engine.pid }, formats: allFormats });
  await llmprof.saw("Tracing process");
  Deno.writeTextFileSync(waitFile, "");
  const recorded = `${outputPath(folder, "llmprof")}/target.lines`;
  await until("operators in the recording", () => Deno.statSync(recorded).size > 100_000);
  llmprof.kill("SIGINT");
  const summary = summaryOf("operators", await llmprof.finished());
  assert.notEqual(row(engine.pid)?.state, "T");
  assert.equal((await engine.finished()).code, 0);
  const { tokenTimes } = parseEngineLog(Deno.readTextFileSync(log));
  assert.equal(tokenTimes.length, 300, "it did all its work");
  assert.deepEqual([summary.events.lost, summary.events.undecodable], [0, 0]);
  const path = outputPath(folder, "pftrace");
  assert.deepEqual(await errors(path), []);
  const decodes = await slicesOf(path, "llama.decode");
  assert.ok(decodes.length > 0 && decodes.length < 300, `${decodes.length} calls until Ctrl-C`);
  assert.ok(decodes.at(-1)!.start < tokenTimes.at(-1)!);
  assert.deepEqual(await differingReplays(folder, ["pftrace", "json", "jsonl"]), [], "a replay closes what was open alike");
});

sampledTest(0, "a target that includes llmprof itself: whoever is started meanwhile is not stopped", {}, async ({ path: bpftrace }) => {
  using folder = temporary();
  // This test has started llmprof, as a shell does.
  const target = { pid: Deno.pid };
  await using llmprof = startLlmprof("gpu", { bpftrace, folder, target, flags: ["--duration", "2s"], formats: [] });
  await llmprof.saw("Tracing process");
  await mustRun(["true"]);
  const { stdout } = await llmprof.succeeded();
  assert.match(stdout, /"the target includes llmprof itself: nobody is stopped/);
});
