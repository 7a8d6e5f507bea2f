/** What a full buffer swallows is counted to the last event, and the trace says when; and who should empty it is not left without a processor. */
import { setTimeout as pause } from "node:timers/promises";
import assert from "node:assert/strict";
import { mustRun } from "../../harness/command.ts";
import { matrixTest, sampledTest } from "../../harness/kernel.ts";
import { temporary } from "../../harness/temporary.ts";
import { startEngine } from "../../workloads/engine_run.ts";
import { model } from "../../workloads/model.ts";
import { outputPath, startLlmprof, summaryOf, wholeSummaryOf } from "../live_run.ts";
import { cpuLimit } from "../loop_device.ts";
import { step } from "../awake.ts";
import { bootNow } from "../boot_clock.ts";
import { bpftracesOf, until } from "../processes.ts";
import { lastCounts, recordedFacts } from "../recorded.ts";
import { differingReplays } from "../replayed.ts";
import { traceFigures } from "../trace_figures.ts";

const heldMs = 3000, afterwardsMs = 1000;

matrixTest(
  "a reader that is held for three seconds loses events, and every one of them is known",
  { engine: true, judge: true },
  async (bpftrace) => {
    using folder = temporary();
    const [waitFile, stopFile] = [folder.file("go"), folder.file("stop")];
    await using engine = startEngine({ model: model("small"), tokens: 100, waitFile, stopFile });
    await engine.saw('"waiting"');
    const flags = ["--buffer-pages", "64", "--max-loss", "0"];
    const formats = ["pftrace", "llmprof"];
    await using llmprof = startLlmprof("operators", { bpftrace: bpftrace.path, folder, flags, formats, target: { pid: engine.pid } });
    await llmprof.saw("Tracing process");
    Deno.writeTextFileSync(waitFile, "");
    const recording = outputPath(folder, "llmprof");
    await until("operators in the recording", () => Deno.statSync(`${recording}/target.lines`).size > 100_000);
    const losses = () => recordedFacts(recording, "lost").length;

    // llmprof first: it would continue a reader that it keeps stopped itself for most of the time.
    const held = [llmprof.pid, ...bpftracesOf(llmprof.pid)];
    const from = bootNow();
    for (const pid of held) Deno.kill(pid, "SIGSTOP");
    await pause(heldMs);
    const toldBefore = losses();
    for (const pid of held.toReversed()) Deno.kill(pid, "SIGCONT");
    await until("the loss in the recording", () => losses() > toldBefore);
    // What comes after the loss is seen again.
    await pause(afterwardsMs);
    const to = bootNow();
    Deno.writeTextFileSync(stopFile, "");

    assert.equal((await engine.finished()).code, 0);
    const ended = await llmprof.finished();
    assert.match(ended.stderr, /^Try a larger buffer: --buffer-pages 256$/m);
    const summary = summaryOf("operators", ended, 4);
    const { emitted, received, lost } = summary.events;
    assert.ok(lost > 0);
    assert.equal(emitted - received, lost);
    assert.equal(lastCounts(recording).reduce((sum, count) => sum + count, 0) + (summary.events.skipped ?? 0), emitted);
    const trace = await traceFigures(outputPath(folder, "pftrace"));
    assert.deepEqual(trace.errors, []);
    // bpftrace's own reports count its lost heartbeats too.
    assert.ok(trace.lost.reduce((sum, { count }) => sum + count, 0) >= lost, "the marks account for all of it");
    // It was told when the reader went on, and not when it was known that all had come.
    const moments = trace.lost.map(({ at }) => Number(at - from) / 1e6);
    assert.ok(moments.some((ms) => ms >= heldMs && ms <= Number(to - from) / 1e6), `marks ${moments} ms after the reader was held`);
    assert.deepEqual(await differingReplays(folder, ["pftrace"]), []);
  },
);

sampledTest(1, "a bpftrace that gets no processor is put before others, and nothing is lost", { engine: true, groups: true }, async (bpftrace) => {
  using folder = temporary();
  const [waitFile, stopFile] = [folder.file("go"), folder.file("stop")];
  await using engine = startEngine({ model: model("small"), tokens: 200, waitFile, stopFile });
  await engine.saw('"waiting"');
  // A thousandth of a processor, which is a millisecond in each second; the limit is not for who is before others.
  using group = cpuLimit(0.001, { period: 1e6, realTime: 0.5 });
  await using llmprof = startLlmprof("operators", {
    bpftrace: bpftrace.path,
    folder,
    formats: [],
    flags: ["--no-output"],
    target: { pid: engine.pid },
  });
  await llmprof.saw("Tracing process");
  const [reader] = bpftracesOf(llmprof.pid);
  Deno.writeTextFileSync(group.tasks, `${reader}`);
  Deno.writeTextFileSync(waitFile, "");
  const policy = async () => /policy: (\w+)/.exec((await mustRun(["chrt", "-p", `${reader}`])).stdout)![1];
  for (let left = 30_000; await policy() !== "SCHED_RR"; left -= (await step()).ran) assert.ok(left > 0, "it was left without");
  await pause(afterwardsMs);
  Deno.writeTextFileSync(stopFile, "");
  assert.equal((await engine.finished()).code, 0);
  const { events, notes } = wholeSummaryOf("operators", await llmprof.finished());
  // Behind that, llmprof may say that it did not catch up, and come before others itself.
  assert.deepEqual([events.lost, notes.filter((note) => /got no processor .*comes before whatever/.test(note)).length], [0, 1], notes.join("\n"));
  assert.ok(events.received > 0);
});
