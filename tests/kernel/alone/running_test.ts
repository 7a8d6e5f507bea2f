/** A cold start that no event explains: whose code ran, by a timer's samples, and how much of the time nothing did. */
import assert from "node:assert/strict";
import { sampledTest } from "../../harness/kernel.ts";
import { temporary } from "../../harness/temporary.ts";
import { built } from "../../setup/programs.ts";
import { allFormats, startLlmprof, summaryOf } from "../live_run.ts";
import { differingReplays } from "../replayed.ts";

const SLEPT_NS = 300e6;

sampledTest(0, "coldstart: what runs while nothing explains the time, by file", { gcc: true }, async ({ path }) => {
  using folder = temporary();
  const { program, library } = built.busy;
  await using llmprof = startLlmprof("coldstart", { bpftrace: path, folder, target: { argv: [program, library] }, formats: allFormats });
  const ended = await llmprof.finished();
  const { result, events } = summaryOf("coldstart", ended);
  assert.equal(events.lost, 0);
  const said = /([\d.]+) own, ([\d.]+) library, ([\d.]+) all, ([\d.]+) on a processor/.exec(ended.stderr)!;
  const [own, part, all, processor] = said.slice(1).map(Number) as [number, number, number, number];

  const { perSecond, samples, codes } = result.whileUnexplained!;
  // What a hypervisor takes is no CPU time, and to the timer some of it is.
  const isSo = samples > 0.95 * perSecond * all && samples < 1.05 * perSecond * processor;
  assert.ok(isSo, `${samples} samples in ${all} s of CPU time, ${processor} on a processor`);
  for (const [name, seconds] of [["busy", own], ["libbusy.so", part]] as const) {
    const { samples: its, share, error } = codes.find(({ code }) => code === name)!;
    // Four standard deviations: once in sixteen thousand.
    assert.ok(Math.abs(share - seconds / all) < 2 * error, `${name}: ${its} of ${samples} samples, ${seconds} of ${all} s`);
  }
  const unexplained = result.kinds.find(({ kind }) => kind === "unexplained")!.totalNs;
  assert.ok(unexplained > (own + part) * 1e9 + SLEPT_NS, `${unexplained} ns without a reason`);
  const notes = result.steps.flatMap(({ kind, note }) => kind === "unexplained" && note !== undefined ? [note] : []);
  assert.ok(notes.includes("mostly in busy") && notes.includes("mostly in libbusy.so"), notes.join());
  assert.deepEqual(await differingReplays(folder, ["pftrace", "json", "jsonl"]), []);
});
