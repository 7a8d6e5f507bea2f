/** How long a turn is for which a target is watched: who gets no processor ends it late. */
import assert from "node:assert/strict";
import { sampledTest } from "../../harness/kernel.ts";
import { temporary } from "../../harness/temporary.ts";
import { busyEngine } from "../../workloads/engine_run.ts";
import { Awake } from "../awake.ts";
import { outputPath, startLlmprof, summaryOf } from "../live_run.ts";
import { bpftracesOf, until } from "../processes.ts";
import { watchedTurns } from "../watched_turns.ts";

const name = "--every 6s --for 1s: a turn is as long; a target that ends while it is left alone ends the run in good order";
sampledTest(1, name, { engine: true }, async ({ path }) => {
  using folder = temporary();
  await using awake = new Awake();
  await using engine = await busyEngine(folder, "small");
  // Its end is noticed when the next turn would begin.
  const flags = ["--every", "6s", "--for", "1s"];
  await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { pid: engine.pid }, formats: ["jsonl"], flags });
  await llmprof.saw("is left alone");
  await until("it is watched again", () => bpftracesOf(llmprof.pid).length > 0);
  await until("it is left alone again", () => bpftracesOf(llmprof.pid).length === 0);
  await engine.end();
  const { result, events } = summaryOf("operators", await llmprof.finished());
  assert.deepEqual([result.windows.count, events.lost, events.received], [2, 0, events.emitted]);
  const turns = watchedTurns(outputPath(folder, "jsonl")).filter(({ opened }) => opened !== undefined);
  assert.equal(turns.length, 2);
  for (const { opened, closed } of turns) {
    assert.ok(closed! - opened! >= 1_000_000_000n && awake.ran(opened!, closed!) < 1500, `${closed! - opened!} ns`);
  }
});
