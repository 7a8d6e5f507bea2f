import assert from "node:assert/strict";
import { parseClockLine } from "./clock_line.ts";

Deno.test("clock line: both clocks, the wall clock with its microseconds", () => {
  assert.deepEqual(parseClockLine("3 9700000123456789 1795248402.000042"), { boottime: 9700000123456789n, realtime: 1795248402000042000n });
  // Newer versions print nanoseconds.
  assert.equal(parseClockLine("3 5 1.000042999")!.realtime, 1000042000n);
});

Deno.test("clock line: another line is none", () => {
  for (const line of ["", "ready", "3 5", "3 5 1.42", "13 5 1.000042", "3 x 1.000042", "3 5 1.000042 x"]) {
    assert.equal(parseClockLine(line), null, line);
  }
});
