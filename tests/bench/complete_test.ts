import assert from "node:assert/strict";
import { isComplete, type Told } from "./complete.ts";

Deno.test("endurance: what was told is complete where no more is missing than was lost or hidden, and no more is there than may be", () => {
  const isSo = (told: number, more: Partial<Told> = {}) => isComplete({ told, counted: 1000, lost: 0, hidden: 0, besides: 0, ...more });
  assert.deepEqual([999, 1000, 1001].map((told) => isSo(told)), [false, true, false]);
  assert.deepEqual([996, 997].map((told) => isSo(told, { lost: 1, hidden: 2 })), [false, true]);
  assert.deepEqual([1005, 1006].map((told) => isSo(told, { besides: 5 })), [true, false]);
  assert.equal(isSo(1003, { lost: 1, hidden: 2 }), false, "what was lost is not told");
  assert.equal(isSo(NaN), false);
});
