/** A target that is watched for a while, again and again: whole in each turn, left alone in between. */
import assert from "node:assert/strict";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { parseEngineLog } from "../workloads/engine_log.ts";
import { busyEngine } from "../workloads/engine_run.ts";
import { allFormats, outputPath, startLlmprof, summaryOf } from "./live_run.ts";
import { bpftracesOf, until } from "./processes.ts";
import { differingReplays } from "./replayed.ts";
import { slicesOf } from "./trace_figures.ts";
import { watchedTurns } from "./watched_turns.ts";

sampledTest(0, "--every 8s --for 1s: turns, each of them whole, and nothing attached in between", {
  engine: true,
  judge: true,
}, async ({ path }) => {
  using folder = temporary();
  // Larger than usual: at 150,000 operators a second, as a small one has them on a fast machine, bpftrace 0.17 loses some.
  await using engine = await busyEngine(folder, "small");
  // bpftrace 0.17 takes some seconds to attach to all of it and to detach again.
  const flags = ["--every", "8s", "--for", "1s"];
  const limit = { timeoutMilliseconds: 300_000 };
  await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { pid: engine.pid }, formats: allFormats, flags, ...limit });
  await llmprof.saw("is left alone");
  assert.deepEqual(bpftracesOf(llmprof.pid), [], "between two turns no bpftrace is left");
  await until("it is watched again", () => bpftracesOf(llmprof.pid).length > 0);
  await until("it is left alone again", () => bpftracesOf(llmprof.pid).length === 0);
  llmprof.kill("SIGINT");
  const { result, events, probes } = summaryOf("operators", await llmprof.finished());
  await engine.end();
  const turns = watchedTurns(outputPath(folder, "jsonl")).filter(({ opened }) => opened !== undefined);
  // Where a turn takes longer to be attached and detached than the rest is long, one is left out.
  assert.deepEqual([result.windows.count, turns.length], [2, 2]);
  assert.deepEqual([events.lost, events.received], [0, events.emitted]);
  const ops = probes.filter(({ name, site }) => name === "ggml/ops" && !site.startsWith("tracepoint"));
  assert.deepEqual([ops.length, ops[0]!.hits], [1, result.workers[0]!.calls], "one site, with the hits of all turns");
  // That they are no longer than that is a test of its own, which nobody runs beside.
  for (const { opened, closed } of turns) assert.ok(closed! - opened! >= 1_000_000_000n, `${closed! - opened!} ns`);
  const between = turns.flatMap(({ ends }) => ends.slice(1).map((end, i) => Number(end - ends[i]!)));
  assert.ok(result.betweenTokens!.maxNs <= Math.max(...between) + 1, "the time between turns is no token's");
  const calls = result.tokens.prefillCalls + result.tokens.decodeCalls;
  const known = /^[A-Z][A-Z0-9_]+( \+ [A-Z0-9_]+)*$|^graph (start|rest)$/;
  const nameless = result.operators.map(({ name }) => name).filter((name) => !known.test(name));
  assert.deepEqual(nameless, [], "names are known before the first operator, though the engine is in the middle of its work");
  assert.deepEqual(await differingReplays(folder, ["pftrace", "json", "jsonl"]), []);

  const decodes = await slicesOf(outputPath(folder, "pftrace"), "llama.decode");
  assert.equal(decodes.length, calls);
  const graphs = await slicesOf(outputPath(folder, "pftrace"), "ggml.graph");
  assert.equal(graphs.length, result.graphs.count);
  const { tokenTimes } = parseEngineLog(Deno.readTextFileSync(engine.log));
  for (const { opened, closed } of turns) {
    // Every call gives a token, which the script has before the next call ends. The last call may have been cut off.
    const whole = decodes.filter(({ end }) => end > opened! && end <= closed!).slice(0, -1);
    const [first, last] = [whole[0]!.end, whole.at(-1)!.end];
    assert.equal(tokenTimes.filter((time) => time > first && time < last).length, whole.length - 1);
    // One graph for each call that both programs saw whole: its own, in order.
    const theirs = graphs.filter(({ start, end }) => start >= first && end <= last);
    const both = whole.filter(({ start, end }) => start >= first && end > theirs[0]!.start && start < theirs.at(-1)!.start);
    assert.ok(both.length > whole.length / 2, `${both.length} of ${whole.length}`);
    assert.equal(theirs.length, both.length);
    for (const [i, { start, end }] of both.entries()) assert.ok(start < theirs[i]!.start && theirs[i]!.end < end, `call ${i} has its graph`);
  }
});
