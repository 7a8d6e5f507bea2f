import assert from "node:assert/strict";
import { Decoding } from "../../tests/harness/decoding.ts";
import { calls, kindOf } from "./calls.ts";
import { whoIs } from "../../lib/programs/who.ts";
import { lock } from "./lock.ts";

Deno.test("memory calls: what they are called", () => {
  assert.deepEqual([1, 3, 16 + 4, 16 + 99].map(kindOf), ["mmap of nothing", "munmap", "madvise (dontneed)", "madvise (99)"]);
});

Deno.test("memory calls: the last sums are told at the end, and how many came in a second meanwhile", () => {
  const d = new Decoding(calls, lock);
  d.event(5e8, "memory/lock.lock", { began: 4e8, length: 8192 });
  d.event(7e8, "memory/lock.lock", { began: 6e8, length: 4096, ret: -12 });
  for (const [at, count] of [[0, 0], [5e8, 40], [1e9, 70], [3e9, 75]] as const) {
    d.snapshot(at, "memory/calls.memory_calls", [100, 3], count);
    d.snapshot(at, "memory/calls.memory_bytes", [100, 3], count * 4096);
  }
  d.snapshot(3e9, "memory/calls.memory_ns", [100, 3], 9000);
  d.snapshot(3e9, "memory/calls.memory_failed", [100, 3], 2);
  const spans = d.ending(4e9);
  const rates = spans.flatMap((span) => span.type === "counter" ? [[span.track.name, span.at, span.value, span.total]] : []);
  const of = (kind: string) => rates.filter(([name]) => name === kind).map(([, ...point]) => point);
  assert.deepEqual(of("munmap"), [[0, 0, 0], [1e9, 70, 70], [3e9, 2.5, 75], [4e9, 0, 75]]);
  assert.deepEqual(of("munmap: memory"), [[5e8, 0, 40 * 4096], [3e9, 75 * 4096 / 2.5, 75 * 4096], [4e9, 0, 75 * 4096]]);
  // Two calls in 3.5 seconds, one of which did not fail.
  assert.deepEqual([of("mlock"), of("mlock: memory")], [[[5e8, 0, 1], [4e9, 2 / 3.5, 2]], [[5e8, 0, 8192], [4e9, 8192 / 3.5, 8192]]]);
  const told = spans.flatMap((span) => span.type === "instant" ? [[span.name, span.track.pid, span.args]] : []);
  assert.deepEqual(told, [["mlock", 100, { kind: "mlock", calls: 2, bytes: 8192, ns: 2e8, failed: 1 }], ["munmap", 100, {
    kind: "munmap",
    calls: 75,
    bytes: 75 * 4096,
    ns: 9000,
    failed: 2,
  }]]);
});

Deno.test("memory calls: an mlock that has not returned is one of so long, of nothing yet", () => {
  const d = new Decoding(calls, lock);
  for (const advice of [0, 22]) d.event(5e8, "memory/lock.still", { thread: whoIs(100, 101), began: 4e8, length: 8192, advice });
  const told = d.ending(6e8).flatMap((span) => span.type === "instant" ? [span.args] : []);
  assert.deepEqual(told, [{ kind: "mlock", calls: 1, bytes: 0, ns: 1e8, failed: 0 }]);
});
