import assert from "node:assert/strict";
import { differences, middle, timesAsMuch } from "./statistics.ts";

Deno.test("the middle of figures and its interval", () => {
  const figures = (count: number) => Array.from({ length: count }, (_, i) => count - i);
  // Order statistics from the binomial distribution, as in any table of the sign test: 10 → 2nd and 9th, 20 → 6th and 15th, 100 → 40th and 61st.
  assert.deepEqual(middle(figures(10)), { median: 5.5, low: 2, high: 9, count: 10 });
  assert.deepEqual(middle(figures(20)), { median: 10.5, low: 6, high: 15, count: 20 });
  assert.deepEqual(middle(figures(100)), { median: 50.5, low: 40, high: 61, count: 100 });
});

Deno.test("too few figures: the interval is their range", () => {
  assert.deepEqual(middle([3, 1, 2]), { median: 2, low: 1, high: 3, count: 3 });
  assert.deepEqual(middle([7]), { median: 7, low: 7, high: 7, count: 1 });
  assert.ok(Number.isNaN(middle([]).median));
  assert.deepEqual(middle([NaN, 3, 1, NaN, 2]), middle([3, 1, 2]), "what could not be told counts for nothing");
});

Deno.test("differences are those of the same rounds, whatever befell these", () => {
  const one = [100, 200, 900], other = [150, 700, 940];
  assert.deepEqual(differences(other, one), middle([50, 500, 40]));
  assert.deepEqual([differences(other, one).median, middle(other).median - middle(one).median], [50, 500]);
});

Deno.test("so many times as much: met or missed by the median, and not to be told where the other may be nothing", () => {
  const isMet = (ours: readonly number[], theirs: readonly number[]) => timesAsMuch(ours, theirs, 1.5).isMet;
  const theirs = [10, 11, 12, 10, 11, 12, 10];
  assert.equal(isMet(theirs.map((ns) => 1.4 * ns), theirs), true);
  assert.equal(isMet(theirs.map((ns) => 1.6 * ns), theirs), false);
  const loud = [-900, 12, 700, -40, 3, 250, -8];
  assert.equal(isMet([500, -30, 90, 4, -700, 60, 11], loud), null);
  // Of one that adds nothing, and of one that adds more than any of this noise.
  assert.equal(isMet(theirs.map((ns) => -ns), loud), true);
  assert.equal(isMet(theirs.map((ns) => 1000 * ns), loud), false);
});
