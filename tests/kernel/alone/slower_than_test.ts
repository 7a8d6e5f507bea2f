/** Tokens alone until one is slow, then operators for a while: the slow one is planted. */
import { setTimeout as pause } from "node:timers/promises";
import assert from "node:assert/strict";
import { sampledTest } from "../../harness/kernel.ts";
import { temporary } from "../../harness/temporary.ts";
import { query } from "../../judge/trace_processor.ts";
import { busyEngine } from "../../workloads/engine_run.ts";
import { allFormats, outputPath, startLlmprof, summaryOf } from "../live_run.ts";
import { differingReplays } from "../replayed.ts";
import { slicesOf } from "../trace_figures.ts";

/** A token takes a millisecond, and on a busy machine sometimes ten. */
const FACTOR = 100, STOP_MS = 1000;
/** This engine brings up to 350,000 operators a second: bpftrace 0.17 takes them for about a second. */
const WINDOW_MS = 500;

sampledTest(0, "--slower-than: a planted slow token brings the operators of the tokens that follow, and of no others", {
  engine: true,
  judge: true,
}, async ({ path }) => {
  using folder = temporary();
  await using engine = await busyEngine(folder);
  const flags = ["--slower-than", `${FACTOR}x`, "--for", `${WINDOW_MS}ms`];
  await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { pid: engine.pid }, formats: allFormats, flags });
  await llmprof.saw("Tracing process");
  await pause(2500);
  assert.ok(!llmprof.stderr().includes("A token took"), "nothing was slow");
  const told = llmprof.saw(/A token took \d+\.\d ms, \d+\.\d times the median of those before \(\d+\.\d ms\): operators are looked at for 0\.5 s\./);
  // A stop that comes while the engine begins anew, which it does after fifty tokens, lengthens none.
  let stops = 0;
  for (let isTold = false; !isTold; stops++) {
    Deno.kill(engine.pid, "SIGSTOP");
    await pause(STOP_MS);
    Deno.kill(engine.pid, "SIGCONT");
    isTold = await Promise.race([told.then(() => true), pause(5000).then(() => false)]);
  }
  await llmprof.saw("Tokens alone again");
  // Attaching, and some tokens more.
  await pause(4000);
  llmprof.kill("SIGINT");
  const { result, events, notes } = summaryOf("operators", await llmprof.finished());
  await engine.end();
  assert.deepEqual([events.lost, events.received, result.detail], [0, events.emitted, "op"]);
  assert.equal(result.windows.count, 3);
  assert.equal(notes.filter((note) => note.startsWith("a token took")).length, 1);
  assert.ok(result.operators.some(({ name }) => name === "MUL_MAT"));

  const trace = outputPath(folder, "pftrace");
  const [decodes, graphs] = [await slicesOf(trace, "llama.decode"), await slicesOf(trace, "ggml.graph")];
  const [from, to] = [graphs[0]!.start, graphs.at(-1)!.end];
  const slow = decodes.filter(({ end }, i) => end < from && i > 0 && end - decodes[i - 1]!.end > BigInt(STOP_MS - 100) * 1_000_000n);
  assert.equal(slow.length, stops);
  const isWindow = (ns: bigint) => ns > BigInt(WINDOW_MS - 200) * 1_000_000n && ns < BigInt(WINDOW_MS + 500) * 1_000_000n;
  assert.ok(isWindow(to - from), `${to - from} ns of graphs`);
  const [ops] = await query(trace, "select min(ts) as first, max(ts + dur) as last from slice where category = 'ggml.op'");
  // The graph in the middle of which the window opened has operators and no beginning.
  const [first, last] = [ops!.first as bigint, ops!.last as bigint];
  assert.ok(first > slow.at(-1)!.end && isWindow(last - first), `${last - first} ns of operators`);
  const inside = decodes.filter(({ start, end }) => start >= from && end <= to);
  assert.ok(inside.length > 10 && decodes[0]!.end < slow[0]!.start && decodes.some(({ start }) => start > to));
  // Time outside of graphs is that of the calls whose graphs were seen.
  const { graphsInDecodeNs, outsideGraphNs, decodeNs } = result.time;
  assert.ok(outsideGraphNs! > 0 && graphsInDecodeNs! + outsideGraphNs! < decodeNs);
  assert.deepEqual(await differingReplays(folder, ["pftrace", "json", "jsonl"]), []);
});
