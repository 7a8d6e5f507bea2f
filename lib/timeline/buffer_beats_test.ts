import assert from "node:assert/strict";
import { BufferBeats } from "./buffer_beats.ts";

Deno.test("buffers promise what the slowest of them has promised, once all have been heard", () => {
  const beats = new BufferBeats(2);
  const told = [[0, 10], [0, 20], [5, 12], [5, 13], [0, 30], [5, 40], [5, 50]].map(([cpu, at]) => beats.told(cpu!, at!));
  assert.deepEqual(told, [null, null, 12, 13, null, 30, null]);
});

Deno.test("a processor that is switched off, or never was on, holds the others back for five seconds", () => {
  const beats = new BufferBeats(3);
  const s = 1e9;
  assert.deepEqual([beats.told(0, s), beats.told(1, 2 * s), beats.told(0, 4 * s)], [null, null, null]);
  assert.equal(beats.told(0, 6 * s), 2 * s, "the third has not been heard for five seconds");
  assert.equal(beats.told(0, 7 * s), 7 * s, "nor has the second");
  assert.equal(beats.told(1, 6.5 * s), null, "it is back, and takes nothing back");
  assert.equal(beats.told(0, 8 * s), null);
  assert.equal(beats.told(1, 9 * s), 8 * s);
});
