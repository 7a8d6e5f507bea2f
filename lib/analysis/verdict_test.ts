import assert from "node:assert/strict";
import { fullOf, perhapsBy } from "./verdict.ts";

Deno.test("verdict: reads fill a group's memory, so its limit stands beside what else to try, as a question", () => {
  const limits = { cpus: null, throttled: 0, throttledNs: 0, memoryLimit: 100 << 20, memoryBytes: 99 << 20, killed: 0, reads: [] };
  const own = { evidence: "300 times", advice: "Read less." };
  assert.deepEqual(perhapsBy(fullOf(limits), own), {
    evidence: "300 times; 99.0 MiB of the 100.0 MiB that its control group allows are used",
    advice: "Read less. If it reads the same again and again: raise that limit (memory.max, --memory of a container), or need less memory.",
  });
  assert.deepEqual(perhapsBy(fullOf({ ...limits, memoryBytes: 50 << 20 }), own), own);
});
