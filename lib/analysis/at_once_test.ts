import assert from "node:assert/strict";
import { atOnce } from "./at_once.ts";
import { Intervals } from "./intervals.ts";

const life = (...stretches: readonly (readonly [number, number])[]) => {
  const life = new Intervals();
  for (const [start, end] of stretches) life.add(start, end);
  return life;
};

Deno.test("at once: the most that lived together, however many there were one after another", () => {
  assert.equal(atOnce([]), 0);
  assert.equal(atOnce([life([0, 100])]), 1);
  assert.equal(atOnce([life([0, 100]), life([100, 200]), life([250, 300])]), 1);
  assert.equal(atOnce([life([0, 100]), life([50, 200]), life([60, 90])]), 3);
  assert.equal(atOnce([life([0, 10], [50, 60]), life([20, 30], [50, 60]), life([30, 40])]), 2);
});

Deno.test("at once: a moment together is none, and several moments may be one", () => {
  assert.equal(atOnce([life([0, 1005]), life([1000, 2000])]), 1);
  assert.equal(atOnce([life([0, 1020]), life([1000, 2000])]), 2);
  // For 24 of 2000 two or three, for 6 of them three.
  assert.equal(atOnce([life([0, 1006]), life([1000, 2000]), life([1000, 1024])]), 2);
  // Who was seen at one moment lived for none; all of them may have.
  assert.equal(atOnce([life(), life()]), 2);
});
