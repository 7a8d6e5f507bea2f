import assert from "node:assert/strict";
import type { Slice, Track } from "../lib/events/span.ts";
import { Tracks } from "../lib/events/tracks.ts";
import { seeded } from "../tests/harness/spans.ts";
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

Deno.test("a slice that outlasts more than are held back gets its own row, however many other tracks there are", () => {
  const short = (count: number) => Array.from({ length: count }, (_, i) => `n ${(i + 1) * 100} ${(i + 1) * 100 + 90}`);
  assert.ok(ordered("a 0 100", ...short(130), "slow 50 20000").includes("slow@thread 2 2 (row 2)"));
  assert.ok(ordered("a 0 100", ...short(130), "all 0 20000").includes("all"));
  const given: string[] = [];
  const nesting = new Nesting((slice, track) => given.push(`${slice.name} on ${track.name}`));
  const add = (name: string, tid: number, start: number, end: number) =>
    nesting.add({ type: "slice", track: tracks.thread(1, tid), name, category: "c", start, end });
  add("a", 2, 0, 100);
  for (let i = 0; i < 4200; i++) add("other", 3 + i % 64, 100 + i, 101 + i);
  add("slow", 2, 50, 20_000);
  nesting.flush();
  assert.ok(given.includes("slow on thread 2 2 (row 2)"), String(given.filter((text) => !text.startsWith("other"))));
});

Deno.test("a slice that overlaps one that began together with what it encloses gets its own row", () => {
  assert.deepEqual(ordered("child 10 20", "parent 10 40", "late 25 50"), ["parent", "child", "late@thread 2 2 (row 2)"]);
  assert.deepEqual(ordered("child 10 20", "next 20 22", "parent 10 40", "late 25 50"), ["parent", "child", "next", "late@thread 2 2 (row 2)"]);
});

/** Requests to a disk, in the order of their ends: `deep` at once, some a hundred times as long as others. */
function* requests(random: (below: number) => number, deep: number): Iterable<readonly [start: number, end: number]> {
  const running = Array.from({ length: deep }, () => [0, 1 + random(100)] as [number, number]);
  for (let i = 0; i < 20_000; i++) {
    const next = running.reduce((a, b) => b[1] < a[1] ? b : a);
    yield [next[0], next[1]];
    next[0] = next[1];
    next[1] += 1 + random(100) * (random(100) === 0 ? 100 : 1);
  }
}

Deno.test("whatever a disk is asked at once, on no row two slices overlap", () => {
  for (const deep of [2, 7, 32]) {
    const rows = new Map<Track, { start: number; end: number }[]>();
    const nesting = new Nesting((slice, track) => void (rows.get(track) ?? rows.set(track, []).get(track)!).push(slice));
    let count = 0;
    for (const [start, end] of requests(seeded(deep), deep)) {
      nesting.add({ type: "slice", track: thread, name: "r", category: "c", start, end });
      count++;
    }
    nesting.flush();
    assert.equal([...rows.values()].reduce((sum, slices) => sum + slices.length, 0), count);
    for (const slices of rows.values()) {
      // Outer ones first: each that is open has to hold all of what begins before its end.
      const open: number[] = [];
      for (const { start, end } of slices.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
        while (open.length > 0 && open.at(-1)! <= start) open.pop();
        assert.ok(open.length === 0 || open.at(-1)! >= end, `${start} to ${end} overlaps one that ends at ${open.at(-1)}`);
        open.push(end);
      }
    }
  }
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
