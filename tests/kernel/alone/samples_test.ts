/** A timer's samples: as many as there was CPU time, in the functions that took it. */
import assert from "node:assert/strict";
import { sampledTest } from "../../harness/kernel.ts";
import { temporary } from "../../harness/temporary.ts";
import { built } from "../../setup/programs.ts";
import { allFormats, startLlmprof, summaryOf } from "../live_run.ts";
import { differingReplays } from "../replayed.ts";

const CALLS = 1009;
/** The functions of the workload, and what they are called. */
const WORKS = {
  ggml_vec_dot_f32: "matrix products",
  ggml_compute_forward_rms_norm: "RMS_NORM",
  ggml_barrier: "waiting for other workers",
  own_work: "",
} as const;

sampledTest(1, "--detail sample: as many samples as CPU time, in the functions that took it", { engine: false, judge: false }, async ({ path }) => {
  using folder = temporary();
  const target = { argv: [built.sampled, String(CALLS)] };
  await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target, formats: allFormats, flags: ["--detail", "sample"] });
  const ended = await llmprof.finished();
  const { result, events, probes } = summaryOf("operators", ended);
  const [cpu, processor] = /([\d.]+) s of CPU time, ([\d.]+) on a processor/.exec(ended.stderr)!.slice(1).map(Number) as [number, number];
  assert.deepEqual([events.lost, events.received], [0, events.emitted]);
  // What a new context computes first is no token that it generates.
  assert.deepEqual([result.tokens.prefillCalls, result.tokens.decodeCalls], [1, CALLS - 1]);
  assert.ok(!probes.some(({ name }) => name === "ggml/ops" || name === "ggml/graph"));
  const { count, functions, perSecond } = result.samples!;
  // What a hypervisor takes from a processor is no CPU time, and to the timer some of it is: of several ticks that it kept back one comes.
  assert.ok(
    count > 0.97 * perSecond * cpu && count < 1.03 * perSecond * processor,
    `${count} samples in ${cpu} s of CPU time, ${processor} on a processor`,
  );
  const own = functions.filter(({ name }) => Object.hasOwn(WORKS, name));
  const seen = own.reduce((sum, { samples }) => sum + samples, 0);
  const kernel = functions.find(({ name }) => name === "kernel")?.samples ?? 0;
  assert.ok(seen > 0.99 * (count - kernel), `${seen} of ${count} samples in the functions that take all the time, ${kernel} in the kernel`);
  for (const [name, work] of Object.entries(WORKS)) {
    const row = own.find((row) => row.name === name)!;
    const share = Number(new RegExp(`^${name} ([\\d.]+)$`, "m").exec(ended.stderr)![1]) / cpu;
    // Four standard deviations: once in sixteen thousand.
    assert.ok(Math.abs(row.samples / seen - share) < 2 * row.error, `${name}: ${row.samples} of ${seen}, and ${share} of the CPU time`);
    if (work !== "") assert.equal(row.work, work);
    assert.ok(name === "own_work" ? row.decode === 0 : row.other <= 1, `${name}: ${row.decode} in calls, ${row.other} outside`);
  }
  assert.deepEqual(await differingReplays(folder, ["pftrace", "json", "jsonl"]), []);
});
