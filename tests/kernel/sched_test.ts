/** Where threads are when they are on no processor: waits that are planted, and what the kernel itself counts of the thread. */
import assert from "node:assert/strict";
import { start } from "../harness/command.ts";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { built } from "../setup/programs.ts";
import { allFormats, outputPath, startLlmprof, summaryOf } from "./live_run.ts";
import { loopDevice, slowReads } from "./loop_device.ts";
import { differingReplays } from "./replayed.ts";

/** What waits.c says of each wait, and at its end of the kernel's counters. */
interface Wait {
  readonly wait: string;
  readonly from: number;
  readonly to: number;
  readonly off: number;
  readonly waker: number;
}
interface Counters {
  readonly tid: number;
  readonly at: number;
  readonly on: number;
  readonly queued: number;
  readonly voluntary: number;
  readonly forced: number;
  readonly moves: number;
}
interface Off {
  readonly type: string;
  readonly category: string;
  readonly start: string;
  readonly end: string;
  readonly duration: number;
  readonly args: { readonly reason: string; readonly queuedNs?: number; readonly waker?: string; readonly taker?: string; readonly from?: number };
  readonly track: { readonly tid?: number };
}

const HOG = 1, MS = 1e6;
/** Two percent or five milliseconds. */
const near = (a: number, b: number, what: string) =>
  assert.ok(Math.abs(a - b) <= Math.max(0.02 * b, 5 * MS), `${what}: ${a / MS} ms, ${b / MS} expected`);

sampledTest(1, "sched: planted waits, each as long as it was, by its reason and waker; switches, moves and times as the kernel counts them", {
  fio: true,
  groups: true,
}, async ({ path }) => {
  using folder = temporary();
  await using device = await loopDevice(folder, 4);
  using group = slowReads(device, 1 << 20);
  await using _hog = start([built.hog, String(HOG)], { timeoutMilliseconds: 60_000 });
  const target = { argv: [built.waits, device.path, group.tasks, String(HOG)] };
  await using llmprof = startLlmprof("sched", { bpftrace: path, folder, target, formats: allFormats });
  const ended = await llmprof.finished();
  const { result, events } = summaryOf("sched", ended);
  // Every switch of the machine is a hit, and the kernel may skip one: that is said, and what it may concern is a time or two.
  const skipped = events.skipped!;
  assert.deepEqual([events.lost, events.received], [skipped, events.emitted - skipped]);
  assert.ok(skipped <= 5 + 0.002 * events.emitted, `${skipped} hits were skipped`);
  const lines = ended.stderr.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  const counters: Counters = lines.at(-1);
  const waits: Wait[] = lines.slice(0, -1);
  assert.deepEqual(waits.map(({ wait }) => wait), ["moves", "disk", "lock", "sleep", "network", "preempted"]);
  const slices: Off[] = Deno.readTextFileSync(outputPath(folder, "jsonl")).trimEnd().split("\n").map((line) => JSON.parse(line))
    .filter(({ type, category, track }) => type === "slice" && category === "sched.off" && track.tid === counters.tid);
  for (const { wait, from, to, off, waker } of waits.slice(1)) {
    const inside = slices.filter(({ start, end }) => Number(start) >= from && Number(end) <= to);
    const all = inside.reduce((sum, { duration }) => sum + duration, 0);
    near(all, off, `off in ${wait}`);
    const own = inside.filter(({ args }) => args.reason === wait);
    const waited = own.reduce((sum, { duration, args }) => sum + duration - (wait === "preempted" ? 0 : args.queuedNs ?? 0), 0);
    const queued = inside.reduce((sum, { args }) => sum + (args.queuedNs ?? 0), 0);
    near(waited + (wait === "preempted" ? 0 : queued), off, wait);
    if (wait === "lock" || wait === "network") assert.equal(own.toSorted((a, b) => b.duration - a.duration)[0]!.args.waker, `waker (${waker})`, wait);
    if (wait === "sleep") assert.deepEqual(own.map(({ args }) => args.waker), [undefined], "a timer");
    if (wait === "preempted") {
      const byHog = own.filter(({ args }) => args.taker?.startsWith("hog (")).reduce((sum, { duration }) => sum + duration, 0);
      assert.ok(byHog > 0.9 * waited, `${byHog / MS} of ${waited / MS} ms were taken by the hog`);
    }
  }
  // The kernel's own counters of the thread, from its first moment to the one at which they were read.
  const before = slices.filter(({ start, args }) => Number(start) < counters.at && args.reason !== "new");
  const forced = before.filter(({ args }) => args.reason === "preempted").length;
  const differing = Math.abs(before.length - forced - counters.voluntary) + Math.abs(forced - counters.forced);
  const told = `${before.length - forced} and ${forced} switches, ${counters.voluntary} and ${counters.forced} by the kernel's count`;
  assert.ok(differing <= skipped, told);
  const thread = result.threads.find(({ tid }) => tid === counters.tid)!;
  near(thread.queuedNs, counters.queued, "waiting for a processor");
  near(thread.onNs, counters.on, "on a processor");
  const moves = waits[0]!;
  const moved = slices.filter(({ start, args }) => Number(start) >= moves.from && Number(start) < moves.to && args.from !== undefined);
  assert.equal(moved.length, counters.moves);
  assert.equal(thread.name, "waits");
  assert.deepEqual(await differingReplays(folder, ["pftrace", "json", "jsonl"]), []);
});
