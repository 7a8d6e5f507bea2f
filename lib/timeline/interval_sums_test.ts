import assert from "node:assert/strict";
import { IntervalSums } from "./interval_sums.ts";

Deno.test("interval sums: what grew since it was asked, by map and key; another program begins anew", () => {
  const sums = new IntervalSums();
  const add = (map: string, key: number[], value: number, stream = "process") => sums.add({ at: 0, stream, map, key, value });
  add("off", [1], 10);
  add("off", [1], 15);
  add("off", [2], 3);
  add("faults", [1], 1);
  assert.deepEqual(sums.grown("off"), [{ key: [1], by: 15 }, { key: [2], by: 3 }]);
  assert.deepEqual(sums.grown("off"), []);
  add("off", [1], 20);
  add("off", [1], 4, "process-2");
  assert.deepEqual(sums.grown("off"), [{ key: [1], by: 5 }, { key: [1], by: 4 }]);
  assert.deepEqual([...sums.totals("off")], [[1, 24], [2, 3]]);
  sums.forget("process", "off");
  add("off", [1], 2);
  assert.deepEqual(sums.grown("off"), [{ key: [1], by: 2 }]);
  assert.deepEqual([...sums.totals("off")], [[1, 6]]);
});
