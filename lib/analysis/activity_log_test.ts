import assert from "node:assert/strict";
import type { Slice } from "../events/span.ts";
import { activityOf } from "./activity.ts";
import { ActivityLog } from "./activity_log.ts";
import { coldstart } from "./coldstart.ts";
import { phaseName } from "./phase_kinds.ts";
import { analyse, MS, TestSpans } from "../../tests/harness/spans.ts";

const s = new TestSpans();

function put(slices: readonly Slice[], max?: number) {
  const log = new ActivityLog((from, to) => to.start - from.end, max);
  for (const slice of slices) {
    const activity = activityOf(slice, slice.end - slice.start);
    if (activity) log.add(activity);
  }
  const activities = log.activities();
  return { log, activities, names: activities.map((a) => `${phaseName(a)} ${a.start / MS}-${a.end / MS}`) };
}

Deno.test("a hundred thousand reads of one file are one phase", () => {
  const reads = Array.from({ length: 100_000 }, (_, i) => s.read("m.gguf", i * 0.02, i * 0.02 + 0.01));
  const { activities } = put(reads);
  assert.equal(activities.length, 1);
  assert.deepEqual([activities[0]!.count, activities[0]!.bytes], [100_000, 1e8]);
  assert.ok(Math.abs(activities[0]!.busyNs - 1000 * MS) < 1);
});

Deno.test("a long pause, another file or something else in between parts them", () => {
  assert.deepEqual(put([s.read("a", 0, 2), s.read("a", 30, 32)]).names, ["read a 0-2", "read a 30-32"]);
  assert.deepEqual(put([s.read("a", 0, 2), s.read("a", 6, 10)]).names, ["read a 0-10"]);
  assert.deepEqual(put([s.read("a", 0, 2), s.read("b", 2, 4, 1, 8), s.read("a", 4, 6)]).names, ["read a 0-2", "read b 2-4", "read a 4-6"]);
  assert.deepEqual(put([s.read("a", 0, 2), s.slice("llama.encode", 2, 4), s.read("a", 4, 6)]).names, [
    "read a 0-2",
    "llama_encode 2-4",
    "read a 4-6",
  ]);
  assert.deepEqual(put([s.read("a", 0, 2), s.of(100, 101).read("a", 2, 4), s.read("a", 4, 6)]).names, ["read a 0-6", "read a 2-4"]);
});

Deno.test("a mapping and its faults, reported late, are one phase", () => {
  const libraries = Array.from({ length: 20 }, (_, i) => s.slice("library.load", 20 + i * 3, 22 + i * 3, { file: `lib${i}.so`, bytes: 1 }));
  const { names } = put([s.map("m.gguf", 0, 1), ...libraries, s.touch("m.gguf", 1.5, 10, 50)]);
  assert.equal(names[0], "fault in m.gguf 0-10");
});

Deno.test("a mapping and what fills it are one phase; memory that is filled at once is one like any other, and a lock is a lock, whatever is locked", () => {
  const { activities, names } = put([
    s.map("m.gguf", 0, 1, 5000),
    s.slice("memory.fill", 1, 9, { file: "m.gguf", bytes: 5000 }),
    s.slice("memory.fill", 30, 40, { bytes: 4096 }),
    s.slice("memory.lock", 60, 70, { file: "libm.so", bytes: 4096 }),
  ]);
  assert.deepEqual(names, ["map m.gguf 0-9", "populate memory 30-40", "mlock 60-70"]);
  assert.equal(activities[0]!.bytes, 5000);
});

Deno.test("many short reads of different files, close together, are one group; a long one stays apart", () => {
  const small = Array.from({ length: 30 }, (_, i) => s.read(`f${i}`, i * 0.5, i * 0.5 + 0.3, 10, 100 + i));
  const { activities, names } = put([
    ...small,
    s.read("big", 15, 20),
    s.open("x", 40, 40.1, 3),
    s.slice("library.load", 50, 50.1, { file: "a.so", bytes: 5 }),
  ]);
  assert.deepEqual(names, ["read 30 files 0-14.8", "read big 15-20", "open x 40-40.1", "load a.so 50-50.1"]);
  assert.deepEqual([activities[0]!.files, activities[0]!.bytes], [30, 300]);
  const libraries = Array.from({ length: 12 }, (_, i) => s.slice("library.load", i, i + 0.8, { file: `l${i}.so`, bytes: 5 }));
  assert.deepEqual(put(libraries).names, ["load 12 libraries 0-11.8"]);
});

Deno.test("bounded: alternating without end is put together more coarsely, and said so", () => {
  const slices = Array.from({ length: 20_000 }, (_, i) => s.read(`f${i % 50}`, i * 10, i * 10 + 3, 1, i % 50));
  const { log, activities } = put(slices, 100);
  assert.ok(log.coarse);
  assert.ok(activities.length <= 110, `${activities.length}`);
  assert.equal(activities.reduce((sum, a) => sum + a.bytes, 0), 20_000);
  const threads = Array.from({ length: 3000 }, (_, i) => s.of(100, 1000 + i)).flatMap((t, i) =>
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((j) => t.read(`g${j}`, i + j * 5000, i + j * 5000 + 2, 1, j))
  );
  assert.ok(put(threads, 100).log.coarse);
  const result = analyse(coldstart(), [
    s.exec(0),
    ...Array.from({ length: 9000 }, (_, i) => s.read(`f${i % 50}`, i * 10, i * 10 + 3, 1, i % 50)),
    s.exit(90_000),
  ]);
  assert.ok(result.coarse && result.phases.length < 9000);
  assert.equal(result.steps.reduce((sum, step) => sum + step.durationNs, 0), result.totalNs);
});

Deno.test("names of what has no file", () => {
  assert.deepEqual(put([s.slice("file.map", 0, 3, { bytes: 5 }), s.slice("llama.decode", 5, 6, { phase: "decode" })]).names, [
    "map a file 0-3",
    "llama_decode 5-6",
  ]);
  assert.equal(activityOf(s.slice("ggml.op", 0, 1), 1), undefined);
});
