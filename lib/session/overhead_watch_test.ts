import assert from "node:assert/strict";
import { FakeProc } from "../../tests/harness/fake_machine.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import type { Fact } from "../events/fact.ts";
import { Tally } from "../timeline/tally.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { TargetCpu } from "./target_cpu.ts";
import type { Means } from "./means.ts";
import { OverheadWatch } from "./overhead_watch.ts";

const calibration = { nop: 500, emulated: 1000, stepped: 10_000, back: 1000, printed: 5000, measured: true };

/** A target that uses one core, of which `hits` a second are the probe's, and as many switches, which have no price; time passes only in `sleep`. */
function watched(root: string, hitsPerSecond: number) {
  const proc = new FakeProc(root);
  let now = 5000;
  const tally = new Tally({ 10: { name: "ggml/ops.op", fields: [] } }), switches = new Tally({ 11: { name: "sched/switch.off", fields: [] } });
  // What says when counting began comes with the first lines.
  const timeline = { start: Infinity, end: 1e9, tallies: new Map([["ggml", tally], ["sched", switches]]), code: new Map() };
  // 175 ticks are in every fake process from its start.
  const stat = () => proc.process(100, 1, "engine", "S", 100, Math.round((now - 5000) / 10));
  stat();
  const sleep = (milliseconds: number) => {
    now += milliseconds;
    timeline.start = 1e9;
    stat();
    while (tally.received < Math.round((hitsPerSecond * (now - 5000)) / 1000)) {
      tally.event(10, 1e9 + (now - 5000) * 1e6);
      switches.event(11, 1e9 + (now - 5000) * 1e6);
    }
    return Promise.resolve();
  };
  const sites = [{ probe: "ggml/ops", site: "f+4", cost: "emulated", records: ["ggml/ops.op"] }];
  const facts: Fact[] = [
    { fact: "program", stream: "ggml", sites },
    { fact: "program", stream: "sched", sites: [{ probe: "sched/switch", site: "", cost: "tracepoint", records: ["sched/switch.off"] }] },
  ];
  const means = { files: proc.files, sleep, monotonic: () => now } as Partial<Means> as Means;
  const cpu = new TargetCpu(means, true);
  const watch = new OverheadWatch(means, calibration, cpu, facts, { operators: 0 }, new Set(["sched/switch"]));
  return { proc, timeline: timeline as unknown as Timeline, cpu, watch, sleep };
}

Deno.test("overhead: a second after the beginning, and for the whole run at its end, without what has no price", async () => {
  using root = temporary();
  const { timeline, watch, sleep } = watched(root.path, 20_000);
  const first = await watch.begun([100], timeline, () => false);
  // 20 ms of every second are the hits', 980 ms its own.
  assert.ok(Math.abs(first!.overhead - 20 / 980) < 1e-3, String(first!.overhead));
  assert.equal(first!.hitsPerSecond, 20_000);
  await sleep(9000);
  const all = await watch.predict([100], timeline);
  assert.ok(Math.abs(all!.overhead - 20 / 980) < 1e-4);
});

Deno.test("overhead: of a target that has ended, its threads told what it had used", async () => {
  using root = temporary();
  const { proc, timeline, cpu, watch, sleep } = watched(root.path, 20_000);
  const first = await watch.begun([100], timeline, () => false);
  // Three seconds after the beginning, in which it has used half as much; a thread had ended before it was watched.
  await sleep(1900);
  const exit = (tid: number, own: number, before: number) => {
    cpu.exited({ at: timeline.start + 3e9, stream: "process", record: "process/life.exit", pid: 100, tid, values: [0, own, before, "engine"] });
  };
  exit(101, 200e6, 250e6);
  exit(100, 1300e6, 450e6);
  proc.gone(100);
  const all = await watch.predict([100], timeline);
  assert.ok(Math.abs(all!.overhead - 20 / 480) < 1e-3, `${first!.overhead} ${all!.overhead}`);
  assert.equal(all!.hitsPerSecond, 20_000);
});

Deno.test("overhead: what a process had used that is gone and has not told yet is not taken off", async () => {
  using root = temporary();
  const { proc, timeline, watch, sleep } = watched(root.path, 20_000);
  proc.process(200, 100, "child", "S", 100, 50);
  await watch.begun([100], timeline, () => false);
  proc.gone(200);
  await sleep(9000);
  const all = await watch.predict([100], timeline);
  assert.ok(Math.abs(all!.overhead - 20 / 980) < 1e-3, String(all!.overhead));
});

Deno.test("overhead: a target that ends within the first second is told of at the end alone", async () => {
  using root = temporary();
  const { proc, timeline, cpu, watch, sleep } = watched(root.path, 20_000);
  await sleep(600);
  let looks = 0;
  const first = await watch.begun([100], timeline, () => {
    if (looks++ === 1) {
      cpu.exited({
        at: timeline.start + 1.6e9,
        stream: "process",
        record: "process/life.exit",
        pid: 100,
        tid: 100,
        values: [0, 1050e6, 250e6, "engine"],
      });
      proc.gone(100);
    }
    return false;
  });
  assert.equal(first, null);
});

Deno.test("overhead: of a target that has ended, and told nothing, what was predicted while it ran; of one that does nothing, nothing", async () => {
  using root = temporary();
  const { proc, timeline, watch } = watched(root.path, 20_000);
  const first = await watch.begun([100], timeline, () => false);
  proc.gone(100);
  assert.deepEqual(await watch.predict([100], timeline), first);
  const idle = watched(root.path, 20_000);
  assert.equal(await idle.watch.predict([100], idle.timeline), null);
});
