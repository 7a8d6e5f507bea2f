/** What somebody kills has written what happened until 1.3 s before: not where others want the processors, too. */
import assert from "node:assert/strict";
import { readMeans } from "../../../lib/commands/means.ts";
import { sampledTest } from "../../harness/kernel.ts";
import { temporary } from "../../harness/temporary.ts";
import { errors } from "../../judge/trace_processor.ts";
import { parseEngineLog } from "../../workloads/engine_log.ts";
import { startEngine } from "../../workloads/engine_run.ts";
import { model } from "../../workloads/model.ts";
import { Awake, ranFor } from "../awake.ts";
import { bootNow } from "../boot_clock.ts";
import { operatorsPerGraph } from "../counted_run.ts";
import { aWhile, type Case, faultTests, formats, guardOf } from "../fault_tests.ts";
import { LATENCY_MS } from "../faulty_run.ts";
import { outputPath, startLlmprof } from "../live_run.ts";
import { bpftracesOf, interruptedUntilGone, onProcessorNs, row, until } from "../processes.ts";
import { slicesOf } from "../trace_figures.ts";

const killed: Case["fault"] = ({ llmprof, written }) => {
  const seenUntil = written();
  llmprof.kill("SIGKILL");
  return { code: 137, signal: "SIGKILL", seenUntil };
};

faultTests([
  {
    name: "llmprof is killed while it counts: each file holds what was seen until 1.3 s before",
    by: "start",
    stage: "counting",
    formats,
    fault: async (run) => {
      await aWhile();
      return killed(run);
    },
  },
  {
    name: "bpftrace is killed while it counts",
    by: "pid",
    stage: "counting",
    // Files are brought to an end as when it is told to: what of them is on disk by then is looked at above and below.
    formats: ["pftrace", "llmprof"],
    fault: async ({ bpftraces, written }) => {
      await aWhile();
      const seenUntil = written();
      Deno.kill(bpftraces().at(-1)!, "SIGKILL");
      return { code: 1, seenUntil, says: [/^bpftrace ended while it traced \('\w+'\)\. Somebody killed it, or the kernel did/m] };
    },
  },
  {
    name: "Ctrl-C twice",
    by: "pid",
    stage: "counting",
    formats,
    fault: async ({ llmprof, typed, written }) => {
      await aWhile();
      const seenUntil = written();
      typed("SIGINT");
      await llmprof.saw("Reading what is left");
      await interruptedUntilGone(llmprof.pid, () => typed("SIGINT"));
      return { code: 130, seenUntil, says: [/^Killed\. Kept as far as it was written: .*run\.pftrace, /m] };
    },
  },
  {
    name: "llmprof and its guard are killed at once while it counts",
    often: "when asked",
    by: "start",
    stage: "counting",
    fault: async (run) => {
      await aWhile();
      Deno.kill(guardOf(run), "SIGKILL");
      return killed(run);
    },
  },
]);

for (const [index, victim] of ["bpftrace", "llmprof"].entries()) {
  sampledTest(
    index,
    `${victim} is killed while operators stream: each that began until 1.3 s before is in the trace`,
    { engine: true, judge: true },
    async ({ path: bpftrace }) => {
      using folder = temporary();
      const [log, waitFile, stopFile] = [folder.file("log"), folder.file("go"), folder.file("stop")];
      const perGraph = await operatorsPerGraph(bpftrace);
      await using awake = new Awake();
      await using engine = startEngine({ model: model("tiny"), tokens: 3001, log, waitFile, stopFile });
      await engine.saw('"waiting"');
      await using llmprof = startLlmprof("operators", { bpftrace, folder, target: { pid: engine.pid } });
      await llmprof.saw("Tracing process");
      Deno.writeTextFileSync(waitFile, "");
      // Longer than the reader of a ring buffer ever pauses.
      await ranFor(2500);
      const written = awake.ago(LATENCY_MS);
      if (victim === "llmprof") llmprof.kill("SIGKILL");
      // The reader that is paused, where readers are: the last to come.
      else Deno.kill(bpftracesOf(llmprof.pid).at(-1)!, "SIGKILL");
      const killedAt = bootNow(), usedNs = onProcessorNs(engine.pid)!;
      const { code, stderr } = await llmprof.finished();
      assert.equal(code, victim === "llmprof" ? 137 : 1, stderr);
      // Its first thread has each token in hand for a part of a millisecond.
      await until("the engine is some tokens on", () => onProcessorNs(engine.pid)! - usedNs > 50e6);
      Deno.writeTextFileSync(stopFile, "");
      assert.equal((await engine.finished()).code, 0);
      const { tokenTimes } = parseEngineLog(Deno.readTextFileSync(log));
      assert.ok(tokenTimes.at(-1)! > killedAt, "it goes on until it is told to stop");
      const path = outputPath(folder, "pftrace");
      assert.deepEqual(await errors(path), []);
      const seen = tokenTimes.filter((at) => at < written);
      assert.ok(seen.length > 100, `${seen.length} tokens`);
      const [decodes, ops] = [await slicesOf(path, "llama.decode"), await slicesOf(path, "ggml.op")];
      let op = 0;
      for (const [index, at] of seen.entries()) {
        const decode = decodes[index];
        assert.ok(decode && decode.end <= at, `call ${index} of ${seen.length}; ${decodes.length} are in the trace`);
        const from = op;
        while (op < ops.length && ops[op]!.start < decode.end) op++;
        assert.equal(op - from, perGraph, `operators of call ${index} of ${seen.length}`);
      }
    },
    victim === "bpftrace",
  );
}

sampledTest(
  0,
  "llmprof is killed with its reader stopped: no bpftrace is left, and what was recorded is young",
  { engine: true },
  async ({ path }) => {
    const { ringbuf } = (await readMeans(path)).machine.bpftrace!.features;
    using folder = temporary();
    const waitFile = folder.file("go");
    await using awake = new Awake();
    await using engine = startEngine({ model: model("small"), tokens: 3000, waitFile });
    await engine.saw('"waiting"');
    await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { pid: engine.pid }, formats: ["llmprof"] });
    await llmprof.saw("Tracing process");
    Deno.writeTextFileSync(waitFile, "");
    const recorded = `${outputPath(folder, "llmprof")}/target.lines`;
    await until("operators in the recording", () => Deno.statSync(recorded).size > 1_000_000);
    const bpftraces = bpftracesOf(llmprof.pid);
    const stopped = () => bpftraces.some((pid) => row(pid)?.state === "T");
    if (ringbuf) await until("the reader is stopped", stopped);
    const written = awake.ago(LATENCY_MS);
    llmprof.kill("SIGKILL");
    await until("no bpftrace is left", () => bpftraces.every((pid) => row(pid)?.name !== "bpftrace"));
    const times = [...Deno.readTextFileSync(recorded).matchAll(ringbuf ? /^[1-9]\d (\d+) /gm : /^@rows\d\[(\d+), /gm)].map(([, time]) =>
      BigInt(time!)
    );
    const last = times.reduce((a, b) => a > b ? a : b);
    assert.ok(last > written, `the last operator was recorded ${Number(written - last) / 1e6} ms before what has to be`);
  },
);
