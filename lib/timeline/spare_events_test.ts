import assert from "node:assert/strict";
import { SpareEvents } from "./spare_events.ts";

Deno.test("spare events: one that all have seen is filled again, and none that somebody may keep", () => {
  const spare = new SpareEvents((record) => record === "a/hot.hit");
  assert.deepEqual([spare.isPassing("a/hot.hit"), spare.isPassing("a/rare.hit")], [true, false]);
  const filled = (...[at, stream, record, pid, tid, ...numbers]: [number, string, string, number, number, ...number[]]) => {
    const event = spare.take(numbers.length);
    numbers.forEach((number, i) => event.values[i] = number);
    return event.as(at, stream, record, pid, tid);
  };
  const first = filled(10, "a", "a/hot.hit", 1, 2, 7);
  const second = filled(11, "a", "a/hot.hit", 1, 2, 8);
  spare.give({ at: 12, stream: "a", record: "a/rare.hit", pid: 1, tid: 2, values: [9] });
  spare.give(first);
  assert.deepEqual(filled(19, "a", "a/hot.two", 1, 2, 5, 6).values, [5, 6]);
  const third = filled(20, "b", "a/hot.hit", 3, 4, 9);
  assert.equal(third, first);
  assert.deepEqual({ ...third }, { at: 20, stream: "b", record: "a/hot.hit", pid: 3, tid: 4, values: [9] });
  assert.deepEqual([second.at, second.values], [11, [8]]);
  assert.notEqual(filled(21, "b", "a/hot.hit", 3, 4, 9), second);
});
