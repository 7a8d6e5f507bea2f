import assert from "node:assert/strict";
import { NestedCalls } from "./nested_calls.ts";

Deno.test("nested calls: however many there are, few are kept, and each is told once", () => {
  let outermost = 0, inner = 0;
  const calls = new NestedCalls((outer) => outer === null ? outermost++ : inner++);
  for (let i = 0; i < 200_000; i++) {
    calls.ended({ name: "inner", start: 10 * i + 1, end: 10 * i + 3, ns: 2 });
    assert.equal(calls.ended({ name: "outer", start: 10 * i, end: 10 * i + 5, ns: 5 }), 2);
  }
  assert.ok(outermost > 100_000 && outermost < 200_000, "not all are waited for");
  calls.end();
  assert.deepEqual([outermost, inner, calls.calls], [200_000, 200_000, 400_000]);
  assert.deepEqual([calls.operatorsNs, calls.betweenNs, calls.longestGapNs], [1_000_000, 5 * 199_999, 5]);
});

Deno.test("nested calls: one that calls itself is inside of itself", () => {
  const told: string[] = [];
  const calls = new NestedCalls((outer, inner) => told.push(`${outer?.name ?? null} ${inner.name} ${inner.ns}`));
  assert.equal(calls.ended({ name: "a", start: 3, end: 4, ns: 1 }), 0);
  assert.equal(calls.ended({ name: "a", start: 2, end: 5, ns: 3 }), 1);
  assert.equal(calls.ended({ name: "a", start: 1, end: 9, ns: 8 }), 3);
  calls.end();
  assert.deepEqual(told, ["a a 1", "a a 3", "null a 8"]);
});
