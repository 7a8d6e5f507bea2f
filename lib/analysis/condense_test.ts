import assert from "node:assert/strict";
import type { ColdstartStep } from "./coldstart_schema.ts";
import { condense } from "./condense.ts";
import { seeded } from "../../tests/harness/spans.ts";

function step(name: string, durationNs: number, note?: string): ColdstartStep {
  return { name, kind: "read", startNs: 0, endNs: 0, durationNs, unexplainedNs: 0, ...(note !== undefined && { note }) };
}

Deno.test("the shortest step goes to the shorter neighbour, the longest of a row names it", () => {
  const rows = condense([step("a", 10), step("b", 1), step("c", 5, "9 faults"), step("d", 20), step("e", 2)], 3);
  assert.deepEqual(rows, [
    { name: "a", start: 0, duration: 10 },
    { name: "c", start: 10, duration: 6, note: "9 faults, with 1 shorter step" },
    { name: "d", start: 16, duration: 22, note: "with 1 shorter step" },
  ]);
  assert.deepEqual(condense([step("tiny", 1), step("small", 2), step("big", 30)], 1), [
    { name: "big", start: 0, duration: 33, note: "with 2 shorter steps" },
  ]);
});

Deno.test("whose code ran is told of all steps of a row", () => {
  const ran = (code: string, samples: number) => ({ ...step("unexplained", 10), codes: [{ code, samples }] });
  const rows = condense([ran("node", 2), step("read", 1), ran("libc", 1), step("read", 1), ran("node", 1), step("load", 50)], 2);
  assert.deepEqual(rows.map(({ name, note }) => [name, note]), [["unexplained", "mostly in node, with 4 shorter steps"], ["load", undefined]]);
});

Deno.test("neighbours that have become the same thing become one", () => {
  const steps = [step("wait", 40), step("read", 3), step("wait", 30), step("read", 2), step("wait", 50), step("load", 100)];
  assert.deepEqual(condense(steps, 3), [
    { name: "wait", start: 0, duration: 125, note: "with 4 shorter steps" },
    { name: "load", start: 125, duration: 100 },
  ]);
});

Deno.test("rows fit and sum to the total", () => {
  const random = seeded(4);
  const steps = Array.from({ length: 500 }, (_, i) => step(`s${i}`, random(1000)));
  const rows = condense(steps, 30);
  assert.ok(rows.length <= 30 && rows.length > 10);
  assert.equal(rows.reduce((sum, row) => sum + row.duration, 0), steps.reduce((sum, { durationNs }) => sum + durationNs, 0));
  assert.deepEqual(condense([], 30), []);
});
