import assert from "node:assert/strict";
import { patience } from "./patience.ts";

Deno.test("patience: it waits as long as it is told, in steps of which one at most passes while llmprof does not run", async () => {
  const slept: number[] = [];
  await patience((milliseconds) => Promise.resolve(void slept.push(milliseconds)), 4000);
  assert.deepEqual(slept, [1500, 1500, 1000]);
});
