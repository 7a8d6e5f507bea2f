/** Every way of an event out of the kernel is exact at any rate. */
import { setTimeout as pause } from "node:timers/promises";
import assert from "node:assert/strict";
import { readMeans } from "../../lib/commands/means.ts";
import { matrixTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { busyEngine } from "../workloads/engine_run.ts";
import { Producer } from "../workloads/rates.ts";
import { outputPath, startLlmprof, summaryOf } from "./live_run.ts";
import { bpftracesOf } from "./processes.ts";
import { traced } from "./traced_rates.ts";

/** Prime, and so is what comes of it in a second. */
const callsPerSecond = 20_011;

matrixTest("events at a rate that every version bears: each arrives, once", { gcc: true }, async ({ path }) => {
  await using producer = await Producer.start();
  const { value, emitted, received, byTag } = await traced(
    await readMeans(path),
    producer,
    "adaptive",
    () => producer.produce(callsPerSecond, 1000, 7),
  );
  assert.ok(value.calls > 0);
  assert.deepEqual({ emitted, received, tagged: byTag.get(7) }, { emitted: value.calls, received: value.calls, tagged: value.calls });
});

matrixTest("events far beyond what bpftrace can print: what is lost is counted to the last one", { gcc: true }, async ({ path }) => {
  const means = await readMeans(path);
  await using producer = await Producer.start();
  // Without a ring buffer every map overflows; with one, a small one does.
  const pages = means.machine.bpftrace!.features.ringbuf ? 64 : undefined;
  const { value, emitted, received, lost } = await traced(means, producer, "adaptive", () => producer.produce(300_007, 1500), pages);
  assert.equal(emitted, value.calls);
  assert.ok(lost > 0 && received > 0);
  assert.equal(lost, value.calls - received);
});

matrixTest("a reader that stands still for half of the time: every event comes in its place", { engine: true }, async ({ path }) => {
  using folder = temporary();
  // A quarter of what bpftrace 0.17 can read: stopped for half of the time on a machine that has other things to do, it keeps up.
  await using engine = await busyEngine(folder, "small");
  const flags = ["--buffer-pages", "16384"], formats = ["pftrace", "llmprof"];
  await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { pid: engine.pid }, formats, flags });
  await llmprof.saw("Tracing process");
  const bpftraces = bpftracesOf(llmprof.pid), recorded = `${outputPath(folder, "llmprof")}/target.lines`;
  // Buffers of processors fill for several heartbeats, and are read one after another. How fast the engine is depends on what else the machine does.
  const isEnough = () => Deno.statSync(recorded).size > 1_000_000;
  for (let times = 0; times < 6 || times < 100 && !isEnough(); times++) {
    for (const [signal, ms] of [["SIGSTOP", 250], ["SIGCONT", 250]] as const) {
      for (const pid of bpftraces) Deno.kill(pid, signal);
      await pause(ms);
    }
  }
  llmprof.kill("SIGINT");
  const { result, events, probes, notes } = summaryOf("operators", await llmprof.finished());
  await engine.end();
  const ops = probes.filter(({ name, site }) => name === "ggml/ops" && !site.startsWith("tracepoint"));
  const { hits } = ops[0]!;
  assert.ok(hits! > 10_000);
  assert.deepEqual(
    { calls: result.workers.map(({ calls }) => calls), lost: events.lost, notes },
    { calls: [hits], lost: 0, notes: [] },
    "no operator outside of its graph, none on a row of its own",
  );
});
