import assert from "node:assert/strict";
import { THREADS } from "./engine_flags.ts";
import { Intervals } from "./intervals.ts";
import { schedVerdict, type Watched } from "./sched_verdict.ts";
import { ThreadWaits } from "./thread_waits.ts";

/** Runs half of a second, and waits for a processor in the other half. */
const thread = (tid: number, affinity: string | null = null, from = 0): Watched => ({
  thread: {
    pid: 10,
    tid,
    name: "spin",
    affinity,
    seenNs: 1e9,
    onNs: 5e8,
    queuedNs: 5e8,
    waits: [],
    voluntary: 0,
    involuntary: 100,
    yielded: 0,
    yieldedNs: 0,
    migrations: 0,
  },
  waits: new ThreadWaits(),
  lives: livesOf(from),
});

function livesOf(from: number): Intervals {
  const lives = new Intervals();
  lives.add(from, from + 1e9);
  return lives;
}

const spin = { tid: 11, name: "spin", times: 90, ns: 4e8, uncountedNs: 0, traces: false },
  kworker = { tid: 5, name: "kworker/0:1", times: 9, ns: 1e6, uncountedNs: 0, traces: false };
const idle = { tid: 0, name: "idle", times: 300, ns: 9e8, uncountedNs: 0, traces: false },
  kswapd = { tid: 60, name: "kswapd0", times: 9, ns: 1e6, uncountedNs: 0, traces: false };
const other = { tid: 99, name: "other", times: 3, ns: 1e8, uncountedNs: 0, traces: false };

const nothing = { memory: null, limits: null };
const use = (cpus: number, onByCpu: ReadonlyMap<number, number>, online = [...Array(cpus).keys()]) => (
  { cpus, online, onByCpu, disks: new Map<string, string>() }
);

Deno.test("sched verdict: threads that may run on one processor alone are told so, and none of them is blamed", () => {
  const places = new Map([[2, 1e9], [0, 1e5]]);
  const of = (...affinities: readonly (string | null)[]) =>
    schedVerdict(affinities.map((affinity, i) => thread(10 + i, affinity)), [spin, kworker], nothing, use(4, places))[0]!;
  const pinned = of("2", "2");
  assert.equal(pinned.evidence, "2 threads compute, the machine has 4 processors, and they may run on processor 2 alone");
  assert.equal(pinned.advice, `Let them use more processors (taskset -p, the cpuset of a container), or fewer threads: 1 (${THREADS}).`);
  // More for each of the processors 0 and 1 than of those three.
  const some = of("0-1", "0", "0-1", "1", "2-3", "0-2", null);
  assert.equal(some.evidence, "7 threads compute, the machine has 4 processors, and 4 of them may run on processors 0–1 alone");
  assert.equal(some.advice, "Let them use more processors (taskset -p, the cpuset of a container).");
});

Deno.test("sched verdict: processors that are switched off are none that a thread may run on", () => {
  const narrow = (online?: number[]) => {
    const four = Array.from({ length: 4 }, (_, i) => thread(10 + i, "0-3"));
    return schedVerdict(four, [], nothing, use(4, new Map([[0, 1e9], [2, 1e9]]), online))[0]!.evidence;
  };
  assert.equal(narrow([0, 2, 4, 6]), "4 threads compute, the machine has 4 processors, and they may run on processors 0, 2 alone");
  assert.equal(narrow(), "4 threads compute, the machine has 4 processors");
});

Deno.test("sched verdict: threads that ran on one processor, and may run on more, or of which nobody knows, are not said to be kept there", () => {
  const ran = new Map([[2, 1e9]]);
  // Of a kernel that lists processors which are not there; and one for each.
  for (const affinities of [["0-1", "0-1", "0-1"], ["0-255", "0-255", "0-255"], [null, null, null], ["0", "1", null]]) {
    const [verdict] = schedVerdict(affinities.map((affinity, i) => thread(10 + i, affinity)), [spin], nothing, use(2, ran));
    assert.deepEqual([verdict!.evidence, verdict!.advice], ["3 threads compute, the machine has 2 processors", `Fewer threads: 2 (${THREADS}).`]);
  }
});

Deno.test("sched verdict: threads that may run on one processor alone, one after another, are not too many for it", () => {
  const says = (...threads: readonly Watched[]) => schedVerdict(threads, [], nothing, use(4, new Map([[2, 1e9]])))[0]!;
  const [first, second, third] = [thread(10, "2"), thread(11, "2"), thread(12, "2", 1e9)];
  assert.equal(says(first, third).evidence, "1 thread computes, the machine has 4 processors");
  const pinned = says(first, second, third);
  assert.equal(pinned.evidence, "2 threads compute, the machine has 4 processors, and they may run on processor 2 alone");
  assert.ok(pinned.advice.endsWith(`, or fewer threads: 1 (${THREADS}).`), pinned.advice);
  // As many at once, of which these two are not all.
  const some = says(first, second, thread(13, "0-3", 1e9), thread(14, "0-3", 1e9));
  assert.match(some.evidence, /^2 threads compute, .*, and 2 of them may run on processor 2 alone$/);
  assert.doesNotMatch(some.advice, /fewer threads/);
});

Deno.test("sched verdict: who is named and to be kept away is neither the target's own nor the kernel's", () => {
  const both = new Map([[0, 5e8], [1, 5e8]]);
  const [taken] = schedVerdict([thread(10), thread(11)], [idle, spin, kworker, kswapd, other], nothing, use(2, both));
  assert.equal(taken!.evidence, "2 threads compute, the machine has 2 processors; other (99) took one 3 times");
  assert.equal(taken!.advice, "Give other a lower priority (renice 19 99), or each of them processors of its own (taskset, a cpuset).");
  const ours = { ...other, tid: 98, name: "V8 DefaultWorke", traces: true }, server = { ...other, name: "deno" };
  const [served] = schedVerdict([thread(10)], [ours, server], nothing, use(2, both));
  assert.match(served!.evidence, /; deno \(99\) took one 3 times$/, "nor one of llmprof's, whatever others are called");
  const [room] = schedVerdict([thread(10)], [other], nothing, use(8, new Map([[3, 5e8]])));
  assert.equal(
    room!.advice,
    "Keep other away from processor 3 (taskset -pc 0-2,4-7 99, or a cpuset), or give it a lower priority (renice 19 99).",
  );
  // Every second one is switched off.
  const [gaps] = schedVerdict([thread(10)], [other], nothing, use(4, new Map([[0, 5e8]]), [0, 2, 4, 6]));
  assert.match(gaps!.advice, /^Keep other away from processor 0 \(taskset -pc 2,4,6 99, /);
  const [alone] = schedVerdict([thread(10), thread(11), thread(12)], [spin, kworker], nothing, use(2, both));
  assert.deepEqual([alone!.evidence, alone!.advice], ["3 threads compute, the machine has 2 processors", `Fewer threads: 2 (${THREADS}).`]);
});

Deno.test("sched verdict: page faults wait for swap where as many pages came from there, and not where a few did", () => {
  const waits = new ThreadWaits(), why = { reason: "page fault", call: null };
  waits.add(why, 100, 5e8);
  const faulting = { ...thread(10), thread: { ...thread(10).thread, queuedNs: 0, waits: waits.result() }, waits };
  const verdict = (swappedInPages: number, swappedBytes: number) => {
    const memory = { processes: [], residentBytes: 0, lockedBytes: 0, swappedBytes, leastAvailableBytes: 0, swappedInPages, swappedOutPages: 0 };
    return schedVerdict([faulting], [], { memory, limits: null }, use(2, new Map([[0, 5e8]])));
  };
  const [swap] = verdict(800, 64 << 20);
  assert.deepEqual([swap!.wait, swap!.share], ["swap", 0.5]);
  assert.equal(swap!.evidence, "100 times; 800 pages of all processes came back from swap, where 64.0 MiB of its memory were");
  assert.match(swap!.advice, /end other processes\. A smaller context/);
  // Others' pages, and a few of its own.
  for (const [fault] of [verdict(800, 0), verdict(20, 64 << 20)]) {
    assert.equal(fault!.wait, "page fault");
    assert.match(fault!.advice, /llama\.cpp's --load-mode none or mmap\+mlock .*, vLLM's .* or SGLang's .* reads them at once/);
  }
});
