import assert from "node:assert/strict";
import type { Mark, Slice } from "../events/span.ts";
import { analyse, byEnd, MS, TestSpans } from "../../tests/harness/spans.ts";
import { torch } from "./torch.ts";
import { presentTorch } from "./torch_present.ts";
import { torchResultSchema } from "./torch_schema.ts";

function op(s: TestSpans, name: string, start: number, end: number): Slice {
  return { ...s.slice("torch.op", start, end), name };
}

function window(ms: number, open: boolean): Mark {
  return { type: "mark", at: ms * MS, kind: "window", stream: "target", text: "", open };
}

const ended: Mark = { type: "mark", at: 8 * MS, kind: "ended", stream: "host", text: "" };
const learned = [window(5, true), window(8, false), ended];

Deno.test("torch: own time and time with what is inside, who asks for whom, and time between", () => {
  const s = new TestSpans(), other = s.of(100, 101);
  const calls = byEnd([
    op(s, "linear", 10, 20),
    op(s, "t", 10.5, 12),
    op(s, "transpose_int", 11, 11.5),
    op(s, "addmm", 13, 19),
    op(s, "linear", 24, 30),
    op(s, "addmm", 25, 28),
    op(other, "addmm", 12, 14),
  ]);
  const result = analyse(torch("learned"), [...learned, window(9, true), ...calls, window(40, false)]);
  assert.deepEqual(torchResultSchema.parse(result), result);
  assert.deepEqual([result.learnedNs, result.windows], [3 * MS, { count: 1, ns: 31 * MS }]);
  const rows = result.operators.map(({ name, calls, totalNs, selfNs }) => [name, calls, totalNs / MS, selfNs / MS]);
  assert.deepEqual(rows, [["addmm", 3, 11, 11], ["linear", 2, 16, 5.5], ["t", 1, 1.5, 1], ["transpose_int", 1, 0.5, 0.5]]);
  assert.equal(result.time.operatorsNs, 18 * MS);
  assert.equal(result.operators.reduce((sum, { selfNs }) => sum + selfNs, 0), result.time.operatorsNs);
  assert.deepEqual(result.nesting.map(({ outer, inner, calls, totalNs }) => [outer, inner, calls, totalNs / MS]), [
    [null, "linear", 2, 16],
    ["linear", "addmm", 2, 9],
    [null, "addmm", 1, 2],
    ["linear", "t", 1, 1.5],
    ["t", "transpose_int", 1, 0.5],
  ]);
  assert.deepEqual(result.threads, [
    { pid: 100, tid: 100, calls: 6, operatorsNs: 16 * MS, betweenNs: 4 * MS, longestGapNs: 4 * MS },
    { pid: 100, tid: 101, calls: 1, operatorsNs: 2 * MS, betweenNs: 0, longestGapNs: 0 },
  ]);
  const [time] = presentTorch(result).flatMap((view) => view.type === "facts" ? [view] : []);
  assert.match(time!.facts.find(({ name }) => name === "between them")!.note!, /TorchScript's operators, torch\.ops, quantised ones/);
});

Deno.test("torch: where no operator ran, those that are not seen may have", () => {
  const result = analyse(torch("all"), [window(5, true), window(7, false)]);
  assert.match(JSON.stringify(presentTorch(result)), /No operator ran while the process was watched; not seen are TorchScript's operators/);
});

Deno.test("torch: time in which the process was held still is in no call, and time between two turns in no gap", () => {
  const s = new TestSpans();
  const result = analyse(torch("learned"), [
    ...learned,
    window(9, true),
    ...byEnd([s.stop(12, 14), op(s, "linear", 10, 20), op(s, "addmm", 11, 19)]),
    window(21, false),
    ended,
    window(50, true),
    op(s, "addmm", 51, 52),
    window(53, false),
  ]);
  assert.deepEqual(result.operators.map(({ name, totalNs, selfNs }) => [name, totalNs / MS, selfNs / MS]), [["addmm", 7, 7], ["linear", 8, 2]]);
  assert.deepEqual([result.windows.count, result.threads[0]!.betweenNs], [2, 0]);
});

Deno.test("torch: time in which the process was held still is not the program's between two calls either", () => {
  const s = new TestSpans();
  const spans = [window(5, true), op(s, "linear", 10, 20), s.stop(21, 36), op(s, "linear", 40, 50), window(60, false)];
  const [thread] = analyse(torch("all"), spans).threads;
  assert.deepEqual([thread!.betweenNs, thread!.longestGapNs], [5 * MS, 5 * MS]);
});

Deno.test("torch: a run that ended while it learned says so", () => {
  const result = analyse(torch("learned"), [window(5, true), window(7, false)]);
  assert.deepEqual([result.windows.count, result.learnedNs, result.operators], [0, 2 * MS, []]);
  assert.match(JSON.stringify(presentTorch(result)), /ended after 2\.00 ms of learning/);
});
