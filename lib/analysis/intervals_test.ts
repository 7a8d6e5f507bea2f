import assert from "node:assert/strict";
import { Intervals } from "./intervals.ts";
import { seeded } from "../../tests/harness/spans.ts";

Deno.test("overlap counts every instant once, whatever order and nesting they came in", () => {
  const random = seeded(1);
  for (let round = 0; round < 200; round++) {
    const intervals = new Intervals();
    const covered = new Uint8Array(100);
    for (let i = 0; i < 12; i++) {
      const start = random(100);
      const end = start + random(15) - 2;
      intervals.add(start, end);
      for (let t = start; t < Math.min(100, end); t++) covered[t] = 1;
      const from = random(100);
      const to = from + random(100 - from);
      assert.equal(intervals.overlap(from, to), covered.subarray(from, to).reduce((a, b) => a + b, 0));
    }
  }
});

Deno.test("total and union", () => {
  const a = new Intervals(), b = new Intervals();
  a.add(0, 10);
  b.add(5, 20);
  b.add(30, 31);
  a.addAll(b);
  assert.equal(a.total, 21);
  assert.equal(a.overlap(20, 10), 0);
});

Deno.test("how many stretches there are", () => {
  const all = new Intervals();
  for (const [start, end] of [[1, 3], [5, 9], [20, 30]] as const) all.add(start, end);
  assert.equal(all.count, 3);
  all.add(2, 25);
  assert.equal(all.count, 1);
});

Deno.test("what is settled is told once, and forgotten", () => {
  const all = new Intervals();
  for (const [start, end] of [[1, 3], [5, 9], [20, 30]] as const) all.add(start, end);
  assert.deepEqual([all.settle(2), all.count, all.total], [{ from: 1, until: 9, ns: 6 }, 1, 10]);
});
