import assert from "node:assert/strict";
import { StreamTotals } from "./stream_totals.ts";

Deno.test("stream totals: a count goes on where another program counts from 0, of each key by itself", () => {
  const totals = new StreamTotals();
  const added = [["process", [7], 10], ["process", [7], 15], ["process-2", [7], 15], ["process-2", [7, 1], 3], ["process-2", [7], 16]] as const;
  assert.deepEqual(added.map(([stream, key, value]) => totals.add({ stream, key, value })), [10, 15, 30, 3, 31]);
});
