/** How long an operator takes, by llmprof and by a program that measures the operator's own function from entry to return. */
import assert from "node:assert/strict";
import { bpftraces } from "../harness/bpftraces.ts";
import { kernelTest } from "../harness/kernel.ts";
import { operatorMedians } from "./operator_medians.ts";

const needs = { bpftrace: true, engine: true, judge: true };

kernelTest("medians of long operators agree with their function's own within 5 %", needs, async () => {
  // The newest here: the old ones wake their reader for every event, which slows what is measured.
  for (const { family, calls, ours, theirs } of await operatorMedians(bpftraces().at(-1)!.path)) {
    const figures = `${family}: ${ours} ms by llmprof, ${theirs} ms by its function`;
    assert.ok(calls.ours > 0);
    assert.equal(calls.ours, calls.theirs, `${family}: as many calls`);
    assert.ok(theirs >= 1, `${figures}: long enough to compare`);
    assert.ok(Math.abs(ours / theirs - 1) <= 0.05, figures);
  }
});
