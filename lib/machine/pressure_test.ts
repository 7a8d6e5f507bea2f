import assert from "node:assert/strict";
import { parsePressure } from "./pressure.ts";

Deno.test("pressure: as the kernel says it, and nothing where it says nothing", () => {
  const text = "some avg10=1.53 avg60=0.10 avg300=0.00 total=160381\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
  assert.deepEqual(parsePressure(text), {
    some: { avg10: 1.53, avg60: 0.1, avg300: 0, total: 160381 },
    full: { avg10: 0, avg60: 0, avg300: 0, total: 7 },
  });
  assert.deepEqual(parsePressure(""), { some: null, full: null });
});
