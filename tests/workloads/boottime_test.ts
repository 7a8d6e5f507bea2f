import assert from "node:assert/strict";
import { boottimeOffset } from "./boottime.mjs";

Deno.test("what a script's clock is behind CLOCK_BOOTTIME is known to a fraction of a millisecond, and said to be no closer than it is", () => {
  const known = Array.from({ length: 5 }, boottimeOffset).map(({ offsetNs, uncertaintyNs }) => ({ from: Number(offsetNs), ns: uncertaintyNs }));
  assert.ok(Math.min(...known.map(({ ns }) => ns)) < 1e6, JSON.stringify(known));
  assert.ok(Math.max(...known.map(({ from }) => from)) <= Math.min(...known.map(({ from, ns }) => from + ns)), JSON.stringify(known));
});
