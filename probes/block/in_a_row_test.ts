import assert from "node:assert/strict";
import { InARow } from "./in_a_row.ts";

/** Requests of 8 sectors, all of them made before the first is answered, in the order of their answers: the n-th that was made is at `place(n)`. */
function together(answers: readonly number[], place = (n: number) => 8 * n): number {
  const row = new InARow();
  return answers.reduce((sum, n, i) => sum + row.add({ begin: place(n), end: place(n) + 8, made: n, at: 1000 + i }), 0);
}

/** One after another. */
function inTurn(...begins: readonly number[]): number {
  const row = new InARow();
  return begins.reduce((sum, begin, i) => sum + row.add({ begin, end: begin + 8, made: 10 * i, at: 10 * i + 5 }), 0);
}

Deno.test("in a row: as many as begin where one ends that was made before, in whatever order they are answered", () => {
  const orders = [[0, 1, 2, 3], [3, 2, 1, 0], [0, 2, 1, 3], [2, 0, 3, 1]];
  assert.deepEqual(orders.map((order) => together(order)), [3, 3, 3, 3]);
  assert.equal(together([0, 1, 2, 3], (n) => [0, 100, 200, 108][n]!), 1);
  // Made backwards.
  assert.equal(together([0, 1, 2, 3], (n) => 80 - 8 * n), 0);
});

Deno.test("in a row: one after another, forwards, backwards, and beside what was answered long ago", () => {
  assert.equal(inTurn(0, 8, 16, 24), 3);
  assert.equal(inTurn(24, 16, 8, 0), 0);
  assert.equal(inTurn(0, 1000, 8, 2000, 16), 0);
  // The same place twice is no row, nor is what has no place.
  assert.equal(inTurn(0, 0, 0), 0);
  const row = new InARow();
  assert.deepEqual([0, 1].map((at) => row.add({ begin: 0, end: 0, made: at, at })), [0, 0]);
});

Deno.test("in a row: of each request that is counted once", () => {
  const row = new InARow();
  // Two of the same place end where a third begins.
  const told = [[0, 8], [0, 8], [8, 16]].map(([begin, end], i) => row.add({ begin: begin!, end: end!, made: i, at: 100 + i }));
  assert.deepEqual(told, [0, 0, 1]);
});
