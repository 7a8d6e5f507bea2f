import assert from "node:assert/strict";
import { BufferBeats } from "./buffer_beats.ts";

const s = 1e9;

Deno.test("buffers promise what the slowest of them has promised", () => {
  const beats = new BufferBeats(2);
  assert.deepEqual([[0, 10], [5, 12], [0, 20], [0, 30], [5, 31]].map(([cpu, at]) => beats.told(cpu!, at! * s)), [
    0,
    10 * s,
    12 * s,
    20 * s,
    30 * s,
  ]);
  assert.equal(beats.told(5, 32 * s), null, "the other has not told more");
  assert.equal(beats.told(0, 30.5 * s), 30.5 * s);
});

Deno.test("where as many lines have come as the kernel counted, nothing is on its way, whoever was silent", () => {
  const beats = new BufferBeats(2);
  beats.told(0, 10 * s);
  assert.equal(beats.counted(0), 10 * s, "the other has never had a heartbeat");
  beats.line();
  beats.told(0, 11 * s);
  assert.equal(beats.counted(2), null, "one is on its way, or lost");
  beats.line();
  assert.equal(beats.counted(2), 11 * s);
  assert.equal(beats.counted(2), null, "no later than was said");
  assert.equal(beats.told(1, 10.5 * s), null);
  assert.equal(beats.told(1, 12 * s), null, "the first has promised no more than the count");
  assert.equal(beats.told(0, 12 * s), 12 * s);
});

Deno.test("a processor that is switched off holds the others back for ten seconds, and takes nothing back when it returns", () => {
  const beats = new BufferBeats(2);
  beats.told(0, 10 * s);
  beats.told(1, 10 * s);
  assert.deepEqual([11, 15, 20, 21, 22].map((at) => beats.told(0, at * s)), [null, null, null, 11 * s, 12 * s]);
  assert.equal(beats.told(1, 11 * s), null);
  assert.equal(beats.told(1, 22.5 * s), 22 * s);
});
