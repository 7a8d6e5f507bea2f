import assert from "node:assert/strict";
import { InARow } from "./in_a_row.ts";

Deno.test("in a row: as many as begin where another one ends, in whatever order they are answered", () => {
  const sum = (...begins: readonly number[]) => {
    const row = new InARow();
    return begins.reduce((sum, begin) => sum + row.add(begin, begin + 8), 0);
  };
  const orders = [[0, 8, 16, 24], [24, 16, 8, 0], [0, 16, 8, 24], [16, 0, 24, 8]];
  assert.deepEqual(orders.map((order) => sum(...order)), [3, 3, 3, 3]);
  assert.equal(sum(0, 100, 200, 108), 1);
  // The same place twice is no row, nor is what has no place.
  assert.equal(sum(0, 0, 0), 0);
  assert.equal(new InARow().add(0, 0), 0);
});

Deno.test("in a row: what was answered long before is forgotten", () => {
  const row = new InARow();
  row.add(0, 8);
  for (let i = 1; i <= 200; i++) row.add(1000 * i, 1000 * i + 8);
  assert.equal(row.add(8, 16), 0);
});
