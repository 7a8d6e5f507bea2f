import assert from "node:assert/strict";
import type { SchedThread } from "./sched_schema.ts";
import { schedVerdict } from "./sched_verdict.ts";

/** Runs half of a second, and waits for a processor in the other half. */
const thread = (tid: number): SchedThread => ({
  pid: 10,
  tid,
  name: "spin",
  seenNs: 1e9,
  onNs: 5e8,
  queuedNs: 5e8,
  waits: [],
  voluntary: 0,
  involuntary: 100,
  migrations: 0,
});
const spin = { tid: 11, name: "spin", times: 90, ns: 4e8 }, kworker = { tid: 5, name: "kworker/0:1", times: 9, ns: 1e6 };
const idle = { tid: 0, name: "idle", times: 300, ns: 9e8 }, kswapd = { tid: 60, name: "kswapd0", times: 9, ns: 1e6 };
const other = { tid: 99, name: "other", times: 3, ns: 1e8 };

const use = (cpus: number, onByCpu: ReadonlyMap<number, number>) => ({ cpus, onByCpu, disks: new Map<string, string>() });

Deno.test("sched verdict: threads that may run on one processor alone are told so, and none of them is blamed", () => {
  const [pinned] = schedVerdict([thread(10), thread(11)], [], [spin, kworker], null, use(4, new Map([[2, 1e9], [0, 1e5]])));
  assert.equal(pinned!.evidence, "2 threads compute, the machine has 4 processors, and they ran on processor 2 alone");
  assert.match(pinned!.advice, /^Let them use more processors .*: -t 1\.$/);
});

Deno.test("sched verdict: who is named and to be kept away is neither the target's own nor the kernel's", () => {
  const both = new Map([[0, 5e8], [1, 5e8]]);
  const [taken] = schedVerdict([thread(10), thread(11)], [], [idle, spin, kworker, kswapd, other], null, use(2, both));
  assert.equal(taken!.evidence, "2 threads compute, the machine has 2 processors; other (99) took one 3 times");
  assert.match(taken!.advice, /^Keep other away/);
  const [alone] = schedVerdict([thread(10), thread(11), thread(12)], [], [spin, kworker], null, use(2, both));
  assert.deepEqual([alone!.evidence, alone!.advice], ["3 threads compute, the machine has 2 processors", "Fewer threads: -t 2."]);
});
