import assert from "node:assert/strict";
import { hog, main, off, preempted, result, run, shut, waker, worker } from "../../tests/harness/sched_spans.ts";
import { analyse, MS, type TestSpans } from "../../tests/harness/spans.ts";
import type { Span } from "../events/span.ts";
import type { Limits } from "../events/surroundings.ts";
import { sched } from "./sched.ts";
import { presentSched } from "./sched_present.ts";
import { schedResultSchema } from "./sched_schema.ts";

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
  assert.ok(Math.abs(totals.queue.p50Ns / MS - 10) < 0.1, "of none, ten and thirty");
  assert.equal(totals.queue.maxNs / MS, 30);
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
  assert.deepEqual(waits.map(({ reason, times, maxNs }) => [reason, times, maxNs / MS]), [["sleep", 1, 40], ["lock", 2, 10], ["new", 1, 2]]);
});

Deno.test("sched: a thread that is preempted on its way out runs no longer than that, and its number may be another's then", () => {
  const exit = (t: TestSpans, at: number): Span => ({ ...t.exit(at), category: "thread.exit" });
  const gone = [shut(0, true), off(worker, "new", 10, 12), exit(worker, 50), preempted(worker, 51, 60), off(worker, "kernel", 61, 63)];
  const [thread] = result([...gone, shut(1000, false)]).threads;
  assert.deepEqual([thread!.seenNs, thread!.onNs, thread!.queuedNs].map((ns) => ns / MS), [40 + 10 + 3, 38 + 1 + 1, 9]);
  assert.deepEqual([thread!.voluntary, thread!.involuntary], [1, 1]);
  const [again] = result([...gone, off(worker, "new", 100, 101), exit(worker, 111), shut(1000, false)]).threads;
  assert.deepEqual([again!.seenNs, again!.onNs].map((ns) => ns / MS), [53 + 11, 40 + 10]);
});

Deno.test("sched: a process that a thread of it takes over by a program runs on", () => {
  const exec = (at: number): Span => ({ ...main.exit(at), category: "process.exec" });
  const { threads } = result([
    shut(0, true),
    off(main, "lock", 0, 10),
    off(main.of(200), "lock", 0, 10),
    // Until all others have ended: then it is the first one.
    off(worker, "kernel", 12, 25),
    { ...main.exit(20), category: "process.exit" },
    exec(30),
    off(main, "sleep", 40, 50),
    shut(100, false),
  ]);
  const times = threads.toSorted((a, b) => a.tid - b.tid).map(({ tid, seenNs, onNs }) => [tid, seenNs / MS, onNs / MS]);
  assert.deepEqual(times, [[100, 20 + 70, 10 + 10 + 50], [101, 18, 5], [200, 100, 90]]);
});

Deno.test("sched: what is over in a moment makes nothing busy", () => {
  const says = (ms: number) => {
    const found = result([shut(0, true), off(worker, "new", 0, 1), { ...worker.exit(ms + 1), category: "thread.exit" }, shut(1000, false)]);
    return presentSched(found).flatMap((view) => view.type === "note" ? view.text.slice(0, 10) : []);
  };
  assert.deepEqual(says(9), ["It is idle"]);
  assert.deepEqual(says(11), ["Nothing wa"]);
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
  assert.match(hogged.verdict[0]!.evidence, /1 thread computes, the machine has 2 processors; hog \(300\) took one 1 time/);
  assert.match(hogged.verdict[0]!.advice, /Keep hog away/);
  const crowd = result([shut(0, true), preempted(main, 0, 500), preempted(worker, 0, 500), shut(1000, false)], 1);
  assert.match(crowd.verdict[0]!.advice, /threads: 1 \(llama\.cpp.s -t, PyTorch.s OMP_NUM_THREADS\)/);
  const nothing = result([shut(0, true), off(main, "lock", 0, 5), shut(1000, false)]);
  assert.deepEqual(nothing.verdict, []);
  assert.match(presentSched(nothing).map((view) => view.type === "note" ? view.text : "").join(), /Nothing waits/);
});

Deno.test("sched: what shows a wait is of threads that compute, too: how often, in which call, and who ends it", () => {
  const boss = { pid: 100, tid: 103, name: "boss" }, idle = main.of(100, 102);
  const found = result([
    shut(0, true),
    ...[100, 200, 300].map((at) => off(main, "lock", at, at + 20, { call: "futex", waker })),
    off(main, "lock", 400, 450, { waker: boss }),
    ...Array.from({ length: 50 }, (_, i) => off(idle, "lock", 20 * i, 20 * i + 20, { call: "futex_wait", waker: boss })),
    off(worker, "lock", 500, 520, { call: "futex", waker: boss }),
    run(4, 600, 640, 24 * MS, { reason: "lock", call: "futex", waker }),
    shut(1000, false),
  ]);
  assert.deepEqual(found.verdict.map(({ wait, ns }) => [wait, ns / MS]), [["lock", 3 * 20 + 50 + 20 + 24]]);
  assert.equal(found.verdict[0]!.evidence, "8 times in futex, woken most by main (100)");
  // The table is of all threads.
  assert.deepEqual(found.waits.map(({ call, times, wakers: [most] }) => [call, times, most!.tid]), [["futex_wait", 50, 103], ["futex", 8, 100], [
    null,
    1,
    103,
  ]]);
});

Deno.test("sched: who sleeps until the end was on no processor, whichever stream shuts its window first", () => {
  for (const gateAt of [990, 1010]) {
    const spans = [
      shut(0, true),
      shut(0, true, "gate"),
      off(main, "lock", 100, 150),
      off(main, "sleep", 200, 1000, {}, true),
      shut(1000, false),
    ];
    const { threads: [thread], totals } = result(spans.toSpliced(gateAt < 1000 ? 3 : 5, 0, shut(gateAt, false, "gate")));
    assert.deepEqual([thread!.seenNs, thread!.onNs, totals.waitNs].map((ns) => ns / MS), [900, 50, 50 + 800]);
  }
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

const limits = (at: number, more: Partial<Limits>): Span => ({
  ...main.exit(at),
  category: "process.limits",
  limits: { cpus: 0.5, throttled: 0, throttledNs: 0, memoryLimit: 100 << 20, memoryBytes: 99 << 20, killed: 0, reads: [], ...more },
});

Deno.test("sched: what a control group took while nobody watched is in no figure, but for who was killed", () => {
  const told = (at: number, throttled: number, killed = 0) => limits(at, { throttled, throttledNs: throttled * MS, killed });
  const found = result([
    shut(0, true),
    told(1, 1000),
    told(500, 1003),
    shut(600, false),
    main.mark("ended"),
    told(900, 1100, 1),
    shut(1000, true),
    told(1001, 1200, 1),
    told(1500, 1201, 1),
    shut(1600, false),
  ]);
  assert.deepEqual([found.limits!.throttled, found.limits!.throttledNs / MS, found.limits!.killed], [4, 4, 1]);
});

Deno.test("sched: threads of several processes are too many together", () => {
  const other = main.of(200, 200);
  const crowd = result([shut(0, true), preempted(main, 0, 500), preempted(other, 0, 500), shut(1000, false)], 1);
  assert.match(crowd.verdict[0]!.advice, /^Fewer threads: 1 in its 2 processes together\.$/);
});

Deno.test("sched: threads and processes that lived one after another are not too many together", () => {
  const other = main.of(200, 200);
  const found = result([
    shut(0, true),
    preempted(main, 0, 400),
    { ...main.exit(400), category: "process.exit" },
    off(other, "new", 500, 500),
    preempted(other, 510, 900),
    shut(1000, false),
  ], 1);
  assert.equal(found.verdict[0]!.evidence, "1 thread computes, the machine has 1 processor; hog (300) took one 2 times");
  assert.match(found.verdict[0]!.advice, /^Give hog a lower priority/);
  // Of one process two threads, and of the next one.
  const [both] = result([
    shut(0, true),
    preempted(main, 0, 400),
    preempted(worker, 0, 400),
    { ...worker.exit(401), category: "thread.exit" },
    { ...main.exit(401), category: "process.exit" },
    off(other, "new", 400, 400),
    preempted(other, 510, 900),
    shut(1000, false),
  ], 1).verdict;
  assert.match(both!.evidence, /^2 threads compute/);
  assert.equal(both!.advice, "Fewer threads: 1 (llama.cpp's -t, PyTorch's OMP_NUM_THREADS).");
});

Deno.test("sched: what control groups took from it is what waits and verdicts are told by", () => {
  const found = result([
    shut(0, true),
    limits(1, { throttled: 3, throttledNs: 7 * MS, refaultedBytes: 5 << 20 }),
    preempted(main, 0, 100),
    off(main, "page fault", 200, 250),
    preempted(main, 300, 400),
    limits(900, { throttled: 13, throttledNs: 107 * MS, killed: 1, refaultedBytes: 55 << 20 }),
    shut(1000, false),
  ]);
  assert.deepEqual([found.limits!.throttled, found.limits!.throttledNs / MS, found.limits!.killed], [10, 100, 1]);
  const [processor, fault] = found.verdict;
  assert.match(
    `${processor!.evidence}. ${processor!.advice}`,
    /^its control group allows 0\.5 .*stood still 10 times.*100 ms of processors' time\. Raise that limit \(cpu\.max/,
  );
  assert.match(
    `${fault!.evidence}. ${fault!.advice}`,
    /99\.0 MiB of the 100\.0 MiB .*50\.0 MiB of files had to be read again\. Raise that limit \(memory\.max/,
  );
  const notes = presentSched(found).flatMap((view) => view.type === "note" && view.level === "warning" ? view.text : []);
  assert.deepEqual(notes, ["The kernel killed a process: its control group allows 100.0 MiB of memory. Raise that, or need less."]);
});

Deno.test("sched: who sleeps in the kernel because its group has more than memory.high is told so, and how often that was", () => {
  const told = (heldBack: number) => {
    const high = { memoryLimit: null, memoryHigh: 80 << 20, memoryBytes: 80 << 20 };
    const spans = [limits(1, { ...high, heldBack: 100 }), off(main, "kernel", 100, 900), limits(950, { ...high, heldBack: 100 + heldBack })];
    const found = result([shut(0, true), main.counter("available memory", 5, 1 << 30), ...spans, shut(1000, false)]);
    const facts = presentSched(found).flatMap((view) => view.type === "facts" ? view.facts : []);
    return { found, group: facts.filter(({ name }) => name.startsWith("group")).map(({ name, value, note }) => `${name} ${value} ${note}`) };
  };
  const { found: { verdict: [kernel], limits: allowed }, group } = told(12);
  assert.deepEqual([allowed!.memoryHigh, allowed!.heldBack], [80 << 20, 12]);
  assert.match(
    `${kernel!.wait}: ${kernel!.evidence}. ${kernel!.advice}`,
    /^kernel: 1 time.*; its control group had more than the 80\.0 MiB of memory\.high, and was held back 12 times\. .* raise that limit first \(memory\.high/,
  );
  assert.match(group[0]!, /^group uses 83886080 of the 80\.0 MiB that its control group allows/);
  assert.match(group[1]!, /^group held back 12 times, by the kernel: it had more than the 80\.0 MiB of memory\.high$/);
  const none = told(0);
  assert.doesNotMatch(none.found.verdict[0]!.evidence, /control group/);
  assert.equal(none.group.length, 1);
});

Deno.test("sched: where a group may read so much from a disk, waits for disks say so", () => {
  const limits = { cpus: null, throttled: 0, throttledNs: 0, memoryLimit: null, memoryBytes: null, killed: 0 };
  const reads = [{ device: "7:0", bytes: 4 << 20, requests: null }, { device: "8:0", bytes: null, requests: 120 }];
  const told: Span = { ...main.exit(1), category: "process.limits", limits: { ...limits, reads } };
  const spans = [shut(0, true), told, off(main, "disk", 100, 900), off(main, "lock", 910, 990), shut(1000, false)];
  const { verdict } = schedResultSchema.parse(analyse(sched(2, [], new Map([["7:0", "loop0"]])), spans));
  const [disk, lock] = verdict.map(({ evidence, advice }) => `${evidence}. ${advice}`);
  assert.match(
    disk!,
    /its control group allows 4\.0 MiB a second from loop0, 120 requests a second from 8:0\. Read less .* If it reads from there, raise the disk's limit/,
  );
  assert.doesNotMatch(lock!, /control group/);
});

Deno.test("sched: several short times off count as often as they were, and what lies between them is time on a processor", () => {
  const { threads, waits, takers, totals } = result([
    shut(0, true),
    off(main, "pipe", 100, 110, { waker }),
    run(50, 120, 220, 40 * MS, { queuedNs: 10 * MS }),
    run(3, 230, 240, 6 * MS, { reason: "preempted", queuedNs: 6 * MS, waker: null, taker: hog }),
    off(main, "pipe", 300, 310, { waker }),
    { ...main.exit(400), category: "process.exit" },
    // Told after the thread had ended.
    run(2, 390, 395, 1 * MS),
    shut(1000, false),
  ]);
  const [thread] = threads;
  assert.deepEqual([thread!.seenNs, thread!.onNs, thread!.queuedNs].map((ns) => ns / MS), [300, 300 - 20 - 40 - 6 - 1, 16]);
  assert.deepEqual(thread!.waits, [{ reason: "pipe", times: 54, ns: (20 + 30 + 1) * MS }]);
  assert.deepEqual([thread!.voluntary, thread!.involuntary, totals.voluntary], [54, 3, 54]);
  assert.equal(thread!.onNs + thread!.queuedNs + thread!.waits[0]!.ns, thread!.seenNs);
  const [pipe] = waits;
  assert.deepEqual([pipe!.times, pipe!.totalNs / MS, pipe!.wakers[0]!.times], [54, 61, 54]);
  // Fifty of them took 0.8 ms each, on average.
  assert.ok(Math.abs(pipe!.p50Ns / MS - 0.8) < 0.01, `${pipe!.p50Ns}`);
  assert.deepEqual(takers.map(({ tid, times }) => [tid, times]), [[300, 3]]);
});

Deno.test("sched: who took a processor is one of llmprof's threads by what is known of it at last", () => {
  const taken = (...known: readonly boolean[]) => {
    const times = known.map((traces, i) => preempted(main, 100 * i, 100 * i + 50, { taker: { ...hog, traces } }));
    const { takers: [taker], verdict: [first] } = result([shut(0, true), ...times, shut(1000, false)]);
    return [taker!.traces, first!.evidence.includes("hog (300) took one")];
  };
  assert.deepEqual([taken(false, true), taken(true, false)], [[true, false], [false, true]]);
});

Deno.test("sched: who yields is queued, as the kernel counts against its will, and nobody took its processor", () => {
  const yielded = (start: number, end: number) => off(main, "yielded", start, end, { call: "sched_yield", queuedNs: (end - start) * MS });
  const found = result([shut(0, true), preempted(main, 100, 150), yielded(200, 280), yielded(300, 320), shut(1000, false)]);
  const [thread] = found.threads;
  assert.deepEqual([thread!.voluntary, thread!.involuntary, thread!.queuedNs, thread!.waits], [0, 3, 150 * MS, []]);
  assert.deepEqual(found.takers, [{ ...hog, times: 1, ns: 50 * MS, uncountedNs: 0 }]);
  const views = presentSched(found), told = JSON.stringify(views);
  assert.ok(told.includes('"1 against its will, 2 yielded"'), told);
  assert.deepEqual([thread!.yielded, thread!.yieldedNs / MS, found.totals.yielded], [2, 100, 2]);
  const [verdict] = found.verdict;
  assert.match(verdict!.evidence, /^1 thread computes, .*; they gave theirs to others 2 times \(sched_yield\)$/, "and nobody is blamed for it");
  assert.equal(verdict!.advice, "Fewer threads, or let them sleep while they wait (OMP_WAIT_POLICY=passive).");
  const [taken] = result([shut(0, true), preempted(main, 100, 500), yielded(600, 680), shut(1000, false)]).verdict;
  assert.match(taken!.evidence, /; hog \(300\) took one 1 time$/, "who gives it away now and then waits for who took it");
});
