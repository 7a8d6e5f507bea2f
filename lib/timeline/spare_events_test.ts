import assert from "node:assert/strict";
import { SpareEvents } from "./spare_events.ts";

Deno.test("spare events: one that all have seen is filled again, and none that somebody may keep", () => {
  const spare = new SpareEvents((record) => record === "a/hot.hit");
  assert.deepEqual([spare.isPassing("a/hot.hit"), spare.isPassing("a/rare.hit")], [true, false]);
  const first = spare.take(10, "a", "a/hot.hit", 1, 2, 7);
  const second = spare.take(11, "a", "a/hot.hit", 1, 2, 8);
  spare.give({ at: 12, stream: "a", record: "a/rare.hit", pid: 1, tid: 2, values: [9] });
  spare.give(first);
  const third = spare.take(20, "b", "a/hot.hit", 3, 4, 9);
  assert.equal(third, first);
  assert.deepEqual({ ...third }, { at: 20, stream: "b", record: "a/hot.hit", pid: 3, tid: 4, values: [9] });
  assert.deepEqual([second.at, second.values], [11, [8]]);
  assert.notEqual(spare.take(21, "b", "a/hot.hit", 3, 4, 9), second);
});
