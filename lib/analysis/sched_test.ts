import assert from "node:assert/strict";
import { analyse, MS, TestSpans } from "../../tests/harness/spans.ts";
import type { Limits, OffCpu, Span } from "../events/span.ts";
import { sched } from "./sched.ts";
import { presentSched } from "./sched_present.ts";
import { schedResultSchema } from "./sched_schema.ts";

const main = new TestSpans(100), worker = main.of(100, 101);
const hog = { tid: 300, name: "hog" }, waker = { pid: 100, tid: 100, name: "main" };

function off(t: TestSpans, reason: string, start: number, end: number, more: Partial<OffCpu> = {}, open = false): Span {
  return { ...t.slice("sched.off", start, end, undefined, open), off: { reason, queuedNs: 0, waker: null, taker: null, migrated: false, ...more } };
}

const shut = (at: number, open: boolean): Span => ({ ...main.mark("window"), at: at * MS, open });
const preempted = (t: TestSpans, start: number, end: number, more: Partial<OffCpu> = {}) =>
  off(t, "preempted", start, end, { queuedNs: (end - start) * MS, taker: hog, ...more });

function result(spans: readonly Span[], cpus = 2) {
  const found = analyse(sched(cpus), spans);
  return schedResultSchema.parse(found);
}

Deno.test("sched: time on a processor, queued and waiting by reason, from the first time that it leaves one until counting ends", () => {
  const { threads, totals, windows } = result([
    shut(0, true),
    off(main, "lock", 100, 150, { queuedNs: 10 * MS, migrated: true, waker }),
    preempted(main, 200, 230),
    off(main, "sleep", 300, 400),
    shut(1000, false),
  ]);
  assert.deepEqual(windows, { count: 1, ns: 1000 * MS });
  const [thread] = threads;
  assert.deepEqual([thread!.seenNs, thread!.onNs, thread!.queuedNs].map((ns) => ns / MS), [900, 50 + 70 + 600, 10 + 30]);
  assert.deepEqual(thread!.waits, [{ reason: "sleep", times: 1, ns: 100 * MS }, { reason: "lock", times: 1, ns: 40 * MS }]);
  assert.deepEqual([thread!.voluntary, thread!.involuntary, thread!.migrations], [2, 1, 1]);
  assert.equal(totals.onNs + totals.queuedNs + totals.waitNs, thread!.seenNs);
});

Deno.test("sched: a new thread is seen from its beginning to its end, and one that is still off is on no processor", () => {
  const { threads, waits } = result([
    shut(0, true),
    off(worker, "new", 10, 12, { queuedNs: 2 * MS }),
    off(worker, "lock", 20, 30),
    { ...worker.exit(50), category: "thread.exit" },
    off(main, "lock", 40, 45),
    off(main, "sleep", 60, 100, {}, true),
    shut(100, false),
  ]);
  const [own, other] = threads.toSorted((a, b) => b.tid - a.tid);
  assert.deepEqual([own!.seenNs, own!.onNs, own!.queuedNs].map((ns) => ns / MS), [40, 8 + 20, 2]);
  assert.deepEqual([own!.voluntary, own!.involuntary], [1, 0], "a first turn is no switch");
  assert.deepEqual([other!.seenNs, other!.onNs].map((ns) => ns / MS), [60, 15]);
  assert.deepEqual(waits.map(({ reason, times, maxNs }) => [reason, times, maxNs / MS]), [["sleep", 1, 0], ["lock", 2, 10], ["new", 1, 2]]);
});

Deno.test("sched: what llmprof held still is in no time", () => {
  const { threads } = result([
    shut(0, true),
    off(main, "lock", 10, 20),
    main.stop(30, 60),
    off(main, "stopped", 30, 60),
    off(main, "lock", 70, 80),
    shut(90, false),
  ]);
  assert.deepEqual([threads[0]!.seenNs, threads[0]!.onNs].map((ns) => ns / MS), [50, 10 + 10 + 10]);
  assert.deepEqual(threads[0]!.waits.map(({ reason, ns }) => [reason, ns / MS]), [["lock", 20], ["stopped", 0]]);
});

Deno.test("sched: the verdict is of threads that compute: what they wait for, who took the processor, and what to try", () => {
  // A pool's thread that waits for work is nobody's problem.
  const idle = off(worker, "lock", 0, 999);
  const hogged = result([shut(0, true), idle, off(main, "disk", 0, 5), preempted(main, 100, 500), shut(1000, false)]);
  assert.deepEqual(hogged.verdict.map(({ wait, share }) => [wait, share]), [["processor", 0.4]]);
  assert.match(hogged.verdict[0]!.evidence, /1 thread computes, the machine has 2 processors; hog \(300\) took one 1 times/);
  assert.match(hogged.verdict[0]!.advice, /Keep hog away/);
  const crowd = result([shut(0, true), preempted(main, 0, 500), preempted(worker, 0, 500), shut(1000, false)], 1);
  assert.match(crowd.verdict[0]!.advice, /-t 1/);
  const nothing = result([shut(0, true), off(main, "lock", 0, 5), shut(1000, false)]);
  assert.deepEqual(nothing.verdict, []);
  assert.match(presentSched(nothing).map((view) => view.type === "note" ? view.text : "").join(), /Nothing waits/);
});

Deno.test("sched: another life of a thread's process, or another turn, begins anew", () => {
  const { threads, windows } = result([
    shut(0, true),
    off(main, "lock", 10, 20),
    shut(100, false),
    main.mark("ended"),
    shut(500, true),
    off(main, "lock", 550, 560),
    shut(600, false),
  ]);
  assert.deepEqual(windows.count, 2);
  assert.deepEqual([threads[0]!.seenNs, threads[0]!.onNs].map((ns) => ns / MS), [90 + 50, 80 + 40]);
});

Deno.test("sched: what control groups took from it is what waits and verdicts are told by", () => {
  const limits = (at: number, more: Partial<Limits>): Span => ({
    ...main.exit(at),
    category: "process.limits",
    limits: { cpus: 0.5, throttled: 0, throttledNs: 0, memoryLimit: 100 << 20, memoryBytes: 99 << 20, killed: 0, ...more },
  });
  const found = result([
    shut(0, true),
    limits(1, { throttled: 3, throttledNs: 7 * MS }),
    preempted(main, 0, 100),
    off(main, "page fault", 200, 250),
    preempted(main, 300, 400),
    limits(900, { throttled: 13, throttledNs: 107 * MS, killed: 1 }),
    shut(1000, false),
  ]);
  assert.deepEqual([found.limits!.throttled, found.limits!.throttledNs / MS, found.limits!.killed], [10, 100, 1]);
  const [processor, fault] = found.verdict;
  assert.match(
    `${processor!.evidence}. ${processor!.advice}`,
    /^its control group allows 0\.5 .*stood still 10 times.*0\.10 s\. Raise that limit \(cpu\.max/,
  );
  assert.match(`${fault!.evidence}. ${fault!.advice}`, /99\.0 MiB of the 100\.0 MiB .*Raise that limit \(memory\.max/);
  const notes = presentSched(found).flatMap((view) => view.type === "note" && view.level === "warning" ? view.text : []);
  assert.deepEqual(notes, ["The kernel killed a process: its control group allows 100.0 MiB of memory. Raise that, or need less."]);
});
