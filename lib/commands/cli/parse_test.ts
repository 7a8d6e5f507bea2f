import assert from "node:assert/strict";
import { parseDuration, parseInterval, parsePages, parsePercent, parseRate } from "./parse.ts";

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

Deno.test("a duration: with a unit, and no longer than a timer counts", () => {
  assert.deepEqual(["10s", "1.5m", "500ms", "1h", "596h"].map(parseDuration), [10_000, 90_000, 500, 3_600_000, 2_145_600_000]);
  for (const wrong of ["", "10", "0s", "-1s", "s", "10 s", "1d", "1e3s"]) assert.throws(() => parseDuration(wrong), /500ms/, wrong);
  for (const long of ["597h", "35792m", "99999999999s"]) assert.throws(() => parseDuration(long), /596h at most/, long);
});

Deno.test("--interval: seconds, or with a unit; a tenth of one at least, and no longer than a timer counts", () => {
  assert.deepEqual(["5", "0.1", "500ms", "1.5m", "2145600"].map(parseInterval), [5000, 100, 500, 90_000, 2_145_600_000]);
  for (const short of ["0", "0.09", "99ms"]) assert.throws(() => parseInterval(short), /100ms at least/, short);
  for (const long of ["2147484", "99999999999", "597h"]) assert.throws(() => parseInterval(long), /596h at most/, long);
});

Deno.test("--buffer-pages: a power of two, and no more than a buffer may have", () => {
  assert.deepEqual(["1", "64", "1048576"].map(parsePages), [1, 64, 1_048_576]);
  for (const wrong of ["3", "1048575"]) assert.throws(() => parsePages(wrong), /power of two/, wrong);
  for (const large of ["2097152", "1048577", "8589934592"]) assert.throws(() => parsePages(large), /1048576 at most/, large);
});
