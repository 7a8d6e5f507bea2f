import assert from "node:assert/strict";
import { UnionTime } from "./union_time.ts";

Deno.test("union time: what goes on at once counts once, also where two are put together, and what is settled goes on counting", () => {
  const time = new UnionTime(4), other = new UnionTime(4);
  for (const [start, end] of [[0, 10], [5, 12], [20, 30]] as const) time.add(start, end);
  assert.equal(time.ns, 22);
  for (const [start, end] of [[25, 31], [40, 41], [50, 52], [60, 63], [70, 74]] as const) other.add(start, end);
  assert.equal(other.ns, 16);
  time.merge(other);
  assert.equal(time.ns, 22 + 16);
});

Deno.test("union time: one that lasted longer than many that are settled counts no time twice, and fills what was free between them", () => {
  const time = new UnionTime(16);
  for (let at = 6; at < 3000; at += 10) time.add(at, at + 4);
  const many = time.ns;
  time.add(0, 3000);
  assert.deepEqual([many, time.ns], [1200, 3000]);
  // Later than most of them, about.
  const part = new UnionTime(16);
  for (let at = 0; at < 3000; at += 10) part.add(at, at + 4);
  part.add(1000, 3000);
  assert.ok(Math.abs(part.ns - 2400) < 10, `${part.ns}`);
});
