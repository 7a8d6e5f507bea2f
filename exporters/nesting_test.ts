import assert from "node:assert/strict";
import type { Slice } from "../lib/events/span.ts";
import { Tracks } from "../lib/events/tracks.ts";
import { Nesting } from "./nesting.ts";

const tracks = new Tracks();
const thread = tracks.thread(1, 2);

/** `name start end` of slices as they end → `name` or `name@row` as they are given out. */
function ordered(...slices: string[]): string[] {
  const given: string[] = [];
  const nesting = new Nesting((slice, track) => given.push(track === slice.track ? slice.name : `${slice.name}@${track.name}`));
  for (const text of slices) {
    const [name, start, end] = text.split(" ");
    nesting.add({ type: "slice", track: thread, name: name!, category: "c", start: Number(start), end: Number(end) });
  }
  nesting.flush();
  return given;
}

Deno.test("slices without a common beginning keep the order in which they ended", () => {
  assert.deepEqual(ordered("child 15 20", "next 20 30", "parent 10 40", "after 40 50"), ["child", "next", "parent", "after"]);
});

Deno.test("an outer slice goes before the inner ones that begin with it", () => {
  assert.deepEqual(ordered("grandchild 10 15", "child 10 20", "sibling 20 30", "parent 10 40"), ["parent", "child", "grandchild", "sibling"]);
});

Deno.test("of two equal slices the first is the outer one, as the contract of spans says", () => {
  assert.deepEqual(ordered("outer 10 20", "inner 10 20"), ["outer", "inner"]);
});

Deno.test("an outer slice that came first stays first", () => {
  assert.deepEqual(ordered("parent 10 40", "child 10 20", "next 20 40", "after 40 50"), ["parent", "child", "next", "after"]);
});

Deno.test("a slice without length is inside the one that begins there, and not in the one that ended there", () => {
  assert.deepEqual(ordered("before 0 10", "point 10 10", "parent 10 40"), ["before", "parent", "point"]);
});

Deno.test("what overlaps gets a row beside its track, as many as it takes", () => {
  const rows = ordered("a 0 20", "b 10 30", "c 15 40", "d 40 50");
  assert.deepEqual(rows, ["a", "d", "b@thread 2 2 (row 2)", "c@thread 2 2 (row 3)"]);
});

Deno.test("memory stays bounded: a track holds back 128 slices", () => {
  let held = 0;
  let most = 0;
  const nesting = new Nesting(() => held--);
  const slice = (i: number): Slice => ({ type: "slice", track: thread, name: "s", category: "c", start: 10 * i, end: 10 * i + 10 });
  for (let i = 0; i < 10_000; i++) {
    held++;
    nesting.add(slice(i));
    most = Math.max(most, held);
  }
  nesting.flush();
  assert.equal(held, 0);
  assert.equal(most, 128);
});
