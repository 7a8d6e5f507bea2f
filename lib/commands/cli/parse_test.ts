import assert from "node:assert/strict";
import { parsePercent, parseRate } from "./parse.ts";

Deno.test("--rate: hits a second, with or without thousands", () => {
  assert.deepEqual(["25000/s", "25k/s", "1.5M/s", "0.5/s"].map(parseRate), [25_000, 25_000, 1_500_000, 0.5]);
  for (const wrong of ["", "25000", "k/s", "-1/s", "0/s", "25 k/s", "25K/s", "1e3/s", "25k/m"]) {
    assert.throws(() => parseRate(wrong), /25k\/s/, wrong);
  }
});

Deno.test("--max-overhead: a percentage above 0", () => {
  assert.deepEqual(["2%", "0.5%", "1000%", "2 %"].map(parsePercent), [0.02, 0.005, 10, 0.02]);
  for (const wrong of ["", "2", "0%", "-1%", "%", "2%%", "two%", "1e1%"]) assert.throws(() => parsePercent(wrong), /2%/, wrong);
});
