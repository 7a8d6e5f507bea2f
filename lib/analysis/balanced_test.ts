import assert from "node:assert/strict";
import { balanced } from "./balanced.ts";

Deno.test("balanced: what one has too little the others give, and the total stays", () => {
  assert.deepEqual(balanced({ a: 3, b: 4 }), { a: 3, b: 4 });
  assert.deepEqual(balanced({ a: -4, b: 5, c: 2 }), { a: 0, b: 1, c: 2 });
  assert.deepEqual(balanced({ a: 3, b: -4, c: 2 }), { a: 0, b: 0, c: 1 });
  assert.deepEqual(balanced({ a: 1, b: -4, c: 2 }), { a: -1, b: 0, c: 0 });
});
