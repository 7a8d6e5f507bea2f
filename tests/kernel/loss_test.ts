/** What a full buffer swallows is counted to the last event, and the trace says when. */
import { setTimeout as pause } from "node:timers/promises";
import assert from "node:assert/strict";
import { matrixTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { startEngine } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { outputPath, startLlmprof, summaryOf } from "./live_run.ts";
import { bootNow } from "./boot_clock.ts";
import { bpftracesOf, until } from "./processes.ts";
import { lastCounts } from "./recorded.ts";
import { differingReplays } from "./replayed.ts";
import { traceFigures } from "./trace_figures.ts";

const heldMs = 3000, afterwardsMs = 1000;
/** A heartbeat, and what it takes to be read behind all that a reader finds after three seconds, on a machine with other tests beside. */
const readMs = 900;

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
    const recorded = `${outputPath(folder, "llmprof")}/target.lines`;
    await until("operators in the recording", () => Deno.statSync(recorded).size > 100_000);

    // llmprof first: it would continue a reader that it keeps stopped itself for most of the time.
    const held = [llmprof.pid, ...bpftracesOf(llmprof.pid)];
    const from = bootNow();
    for (const pid of held) Deno.kill(pid, "SIGSTOP");
    await pause(heldMs);
    for (const pid of held.toReversed()) Deno.kill(pid, "SIGCONT");
    const to = bootNow();
    // What comes after the loss is seen again.
    await pause(afterwardsMs);
    Deno.writeTextFileSync(stopFile, "");

    assert.equal((await engine.finished()).code, 0);
    const summary = summaryOf("operators", await llmprof.finished(), 4);
    const { emitted, received, lost } = summary.events;
    assert.ok(lost > 0);
    assert.equal(emitted - received, lost);
    assert.equal(lastCounts(outputPath(folder, "llmprof")).reduce((sum, count) => sum + count, 0) + (summary.events.skipped ?? 0), emitted);
    const trace = await traceFigures(outputPath(folder, "pftrace"));
    assert.deepEqual(trace.errors, []);
    // bpftrace's own reports count its lost heartbeats too.
    assert.ok(trace.lost.reduce((sum, { count }) => sum + count, 0) >= lost, "the marks account for all of it");
    const moments = trace.lost.map(({ at }) => Number(at - from) / 1e6);
    assert.ok(moments.some((ms) => ms >= 0 && ms <= Number(to - from) / 1e6 + readMs), `marks ${moments} ms after the reader was held`);
    assert.deepEqual(await differingReplays(folder, ["pftrace"]), []);
  },
);
