import assert from "node:assert/strict";
import { AtOnce } from "./at_once.ts";

const MS = 1e6;

function told(requests: readonly (readonly [from: number, to: number])[]): [ms: number, requests: number][] {
  const points: [number, number][] = [];
  const atOnce = new AtOnce((at, requests) => points.push([at / MS, requests]));
  for (const [from, to] of requests) atOnce.add(from * MS, to * MS);
  atOnce.end();
  return points;
}

Deno.test("at once: the mean of each hundredth of a second, told where it changes", () => {
  // Two, of which one began before the other that ends first; then none, then one for half of a part.
  assert.deepEqual(told([[1015, 1020], [1000, 1040], [1105, 1110]]), [[1000, 1], [1010, 1.5], [1020, 1], [1040, 0], [1100, 0.5], [1110, 0]]);
});

Deno.test("at once: in the first ten seconds of one that takes eleven there was nobody who could tell", () => {
  assert.deepEqual(told([[0, 10], [1000, 12_000]]), [[0, 1], [10, 0], [2000, 1], [12_000, 0]]);
});
