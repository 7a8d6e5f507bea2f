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
