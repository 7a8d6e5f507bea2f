/** What the summary's envelope says of the target: which engine, with which model, on which processors. */
import assert from "node:assert/strict";
import { mustRun } from "../harness/command.ts";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { startEngine } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { startLlmprof, summaryOf } from "./live_run.ts";

sampledTest(0, "the engine, its model, its threads and processors are told in the summary", { engine: true }, async ({ path }) => {
  using folder = temporary();
  const stopFile = folder.file("stop");
  await using engine = startEngine({ model: model("tiny"), prompt: 1, tokens: 50, threads: 1, waitFile: folder.file("go"), stopFile });
  await engine.saw('"waiting"');
  await mustRun(["taskset", "--all-tasks", "--cpu-list", "--pid", "0", String(engine.pid)]);
  const status = Deno.readTextFileSync(`/proc/${engine.pid}/status`);
  const flags = ["--detail", "token", "--duration", "2s", "--no-output"];
  await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { pid: engine.pid }, formats: [], flags });
  await llmprof.saw("Tracing");
  Deno.writeTextFileSync(folder.file("go"), "");
  // To let go of who goes on computing takes bpftrace 0.17 a minute beside others that attach, which wait for that.
  await llmprof.saw("Reading what is left");
  Deno.writeTextFileSync(stopFile, "");
  const { host } = summaryOf("operators", await llmprof.finished());
  assert.deepEqual([host.engine, host.model, host.affinity], ["llama.cpp", "tiny.gguf", "0"]);
  assert.ok(host.threads! >= Number(/^Threads:\s*(\d+)/m.exec(status)![1]), `${host.threads} threads`);
});
