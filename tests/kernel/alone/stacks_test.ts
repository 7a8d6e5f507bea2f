/** Who called, where a thread leaves its processor. */
import assert from "node:assert/strict";
import { sampledTest } from "../../harness/kernel.ts";
import { temporary } from "../../harness/temporary.ts";
import { query } from "../../judge/trace_processor.ts";
import { built } from "../../setup/programs.ts";
import { allFormats, outputPath, startLlmprof, summaryOf } from "../live_run.ts";
import { differingReplays } from "../replayed.ts";

const LEFTS = 101, RIGHTS = 53;

sampledTest(1, "sched --stacks: each sleep by who called the function that sleeps, as often as it did", { judge: true }, async ({ path }) => {
  using folder = temporary();
  const target = { argv: [built.callers, String(LEFTS), String(RIGHTS)] };
  await using llmprof = startLlmprof("sched", { bpftrace: path, folder, target, formats: allFormats, flags: ["--stacks"] });
  const { result, events } = summaryOf("sched", await llmprof.finished());
  assert.equal(events.lost, events.skipped);
  const sleeps = result.stacks!.filter(({ call }) => call === "nanosleep" || call === "clock_nanosleep");
  const by = (...names: string[]) => {
    const own = sleeps.filter(({ frames }) => names.every((name, i) => frames[i] === `${name} (callers)`));
    return { times: own.reduce((sum, { times }) => sum + times, 0), ns: own.reduce((sum, { ns }) => sum + ns, 0) };
  };
  const left = by("rest", "left", "main"), right = by("rest", "right", "main"), last = by("rest", "main");
  // A switch that the kernel skipped is said, and missing.
  const missing = [2 * LEFTS - left.times, RIGHTS - right.times, 1 - last.times];
  const told = `${missing} are missing, ${events.skipped} hits were skipped: ${JSON.stringify(sleeps)}`;
  assert.ok(missing.every((n) => n >= 0) && missing.reduce((sum, n) => sum + n) <= events.skipped!, told);
  assert.ok(left.ns >= left.times * 5e6 && right.ns >= right.times * 5e6 && last.ns >= last.times * 2e9);
  // In the trace each time says which stack it has, and the stack is told at the end.
  const rows = await query(
    outputPath(folder, "pftrace"),
    `select extract_arg(told.arg_set_id, 'debug.frames') as frames, count(*) as times from slice off join slice told
       on extract_arg(off.arg_set_id, 'debug.stack') = extract_arg(told.arg_set_id, 'debug.stack') and told.category = 'sched.stack'
     where off.category = 'sched.off' group by frames`,
  );
  const traced = rows.filter(({ frames }) => String(frames).startsWith("rest (callers) ← left (callers) ← main (callers)"));
  assert.equal(traced.reduce((sum, { times }) => sum + Number(times), 0), left.times);
  assert.deepEqual(await differingReplays(folder, ["pftrace", "json", "jsonl"]), []);
});
