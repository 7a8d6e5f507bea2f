import assert from "node:assert/strict";
import { boottime } from "../lib/events/time.ts";
import { absolute, micros } from "./decimal.ts";

Deno.test("absolute time is exact beyond 2^53 and before the base", () => {
  for (const base of [0n, 1n, 999_999_999n, 1_000_000_000n, 9_007_199_254_740_993n, 9_700_000_123_456_789n]) {
    const clock = { name: "boottime", base, realtimeOffset: 0n } as const;
    for (const at of [0, 1, 999_999_999, 1_000_000_000, 876_543_211, 5e12 + 1, -1, -1_000_000_001, 0.4]) {
      assert.equal(absolute(clock)(at), String(boottime(clock, at)), `${base} + ${at}`);
    }
  }
});

Deno.test("microseconds are decimal text without the noise of a division", () => {
  const expected: [number, string][] = [[0, "0"], [1, "0.001"], [1000, "1"], [1_234_567, "1234.567"], [1_100, "1.100"], [-1, "-0.001"], [
    -1500,
    "-1.500",
  ]];
  for (const [nanoseconds, text] of expected) assert.equal(micros(nanoseconds), text);
  assert.equal(micros(9_007_199_254_740_991), "9007199254740.991");
  assert.match(micros(2 ** 62 + 768), /^4611686018427388\.\d{3}$/);
});
