import assert from "node:assert/strict";
import { FaultsByTensor } from "./tensor_faults.ts";

const tensors = [{ name: "a", offset: 100 }, { name: "b", offset: 200 }];

Deno.test("faults by tensor: a run is shared out where tensors end, and what was taken is forgotten", () => {
  const faults = new FaultsByTensor();
  faults.run(50, 25, 7);
  faults.knows(tensors);
  faults.major(199, 5);
  faults.run(200, 0, 1);
  assert.deepEqual(faults.take(), [
    { tensor: null, faults: 2, major: 0, majorNs: 0 },
    { tensor: "a", faults: 4, major: 1, majorNs: 5 },
    { tensor: "b", faults: 2, major: 0, majorNs: 0 },
  ]);
  assert.deepEqual(faults.take(), []);
});

Deno.test("faults by tensor: of a file that was read too late there is no table, rather than one that lacks some", () => {
  const faults = new FaultsByTensor();
  for (let i = 0; i <= 1 << 17; i++) faults.run(150, 0, 1);
  faults.knows(tensors);
  faults.run(150, 0, 1);
  assert.deepEqual(faults.take(), []);
});
