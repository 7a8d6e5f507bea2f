import assert from "node:assert/strict";
import type { Event } from "../../lib/events/event.ts";
import { Tracks } from "../../lib/events/tracks.ts";
import { Stacks, withStacks } from "./stack.ts";

const frame = (stack: number, depth: number, address: number): Event => ({
  at: 0,
  stream: "process",
  record: "sched/switch.frame",
  pid: 7,
  tid: 7,
  values: [stack, depth, address],
});

Deno.test("a stack ends where an address is no code behind a call, and is told by addresses where nobody could look", () => {
  const stacks = new Stacks();
  for (const [depth, address] of [[0, 0x10], [1, 0x20], [2, 0x30], [3, 0x40]] as const) stacks.frame(frame(99, depth, address));
  assert.deepEqual([...stacks.told()][0]!.frames, ["0x10", "0x20", "0x30", "0x40"]);
  stacks.fact({
    fact: "places",
    pid: 7,
    places: [
      { at: 0x10, file: "libc.so.6", name: null, offset: 0x1234 },
      { at: 0x20, file: "", name: null, offset: 0 },
      { at: 0x40, file: "app", name: "main", offset: 0x99 },
    ],
  });
  assert.deepEqual([...stacks.told()], [{ id: 1, pid: 7, frames: ["libc.so.6+0x1234", "code in no file"] }]);
});

Deno.test("stacks of another life have other numbers, and a frame that was lost ends what is told", () => {
  const stacks = new Stacks();
  const numbers = [5, 6, 5].map((key) => {
    stacks.came(frame(key, 0, 0x10), key);
    return stacks.take(7);
  });
  assert.deepEqual([...numbers, stacks.take(7)], [1, 2, 1, undefined]);
  const next = stacks.end(0, "x", new Tracks(), () => {});
  next.frame(frame(5, 0, 0x10));
  next.frame(frame(5, 2, 0x30));
  assert.deepEqual([...next.told()], [{ id: 3, pid: 7, frames: ["0x10"] }]);
});

Deno.test("a template says where a stack is read", () => {
  const text = withStacks("a { NUMBER_STACK TELL_STACK }");
  assert.doesNotMatch(text, /NUMBER_STACK|TELL_STACK/);
  assert.match(text, /EMIT\(frame, \$stack, \$depth, \$back\);/);
});
