import assert from "node:assert/strict";
import type { Slice } from "../events/span.ts";
import { Tracks } from "../events/tracks.ts";
import { GpuGaps } from "./gpu_gaps.ts";
import { gapsByProcess, gapsFacts, gapsNotes } from "./gpu_gaps_present.ts";
import { StoppedTimes } from "./stopped.ts";

const tracks = new Tracks();

function slice(pid: number, category: string, start: number, end: number): Slice {
  return { type: "slice", track: tracks.lane(pid, "x"), name: "", category, start: start * 1e9, end: end * 1e9 };
}

/** Calls of a millisecond, in seconds, and a gap from each to the next. */
function works(gaps: GpuGaps, pid: number, ...times: readonly number[]): void {
  for (const [i, at] of times.entries()) {
    gaps.called(pid, at * 1e9, (at + 0.001) * 1e9);
    if (i > 0) gaps.gap(slice(pid, "gpu.gap", times[i - 1]! + 0.001, at));
  }
}

const said = (gaps: GpuGaps) => gapsNotes(gaps.result()).map(({ text }) => text);

Deno.test("gaps: eight processes that leave their GPUs half of the time leave them half of it, and one of them is told by its number", () => {
  const gaps = new GpuGaps(new StoppedTimes());
  for (let pid = 1; pid <= 8; pid++) works(gaps, pid, 0, 0.002, 0.004);
  const { count, ns, processes } = gaps.result();
  assert.deepEqual([count, Math.round(ns / 1e6)], [16, 16]);
  assert.deepEqual(
    processes.map(({ count, ns, usedNs }) => `${count} ${(ns / usedNs).toFixed(2)}`),
    Array(8).fill("2 0.40"),
  );
  assert.match(said(gaps).join(), /^For 40 % of the time in which 8 of 8 processes used GPUs, .* 16 times: CUDA graphs/);
  assert.equal(gapsFacts(gaps.result())[0]!.note, "16 gaps, 8 processes added");
  assert.equal(gapsByProcess(gaps.result())[0]!.rows.length, 8);

  const one = new GpuGaps(new StoppedTimes());
  one.called(1, 0, 0.05e9);
  works(one, 2, 0, 0.002);
  assert.match(said(one).join(), /^For 33 % of the time in which process 2 used GPUs/);
  one.called(1, 1e9, 6e9);
  assert.deepEqual(said(one), [], "a moment of one that does little");
  assert.deepEqual(gapsByProcess(one.result()), []);
});

Deno.test("gaps: of processes that come one after another each has its own time, and one that is watched again has no time between", () => {
  const gaps = new GpuGaps(new StoppedTimes());
  works(gaps, 1, 0, 0.004);
  gaps.mark({ type: "mark", at: 1e9, kind: "ended", stream: "host", text: "" });
  works(gaps, 1, 100, 100.004);
  works(gaps, 2, 100, 100.004);
  assert.deepEqual(gaps.result().processes.map(({ ns, usedNs }) => [ns, usedNs].map((ns) => Math.round(ns / 1e6))), [[6, 10], [3, 5]]);
});

Deno.test("gaps: what hides them is said", () => {
  const gaps = new GpuGaps(new StoppedTimes());
  gaps.abandoned();
  assert.match(said(gaps).join(), /^A stream was destroyed with work that nobody had waited for: when that ended is not known\./);
  gaps.abandoned();
  assert.match(said(gaps).join(), /^2 streams were destroyed/);
  assert.equal(gaps.result().abandoned, 2);
});

Deno.test("gaps: half a second without work is no gap but a time in which nobody asked: it is apart, and nobody is advised to close it", () => {
  const gaps = new GpuGaps(new StoppedTimes());
  works(gaps, 7, 0, 0.0011, 3, 3.0011, 7);
  const { count, processes: [server] } = gaps.result();
  assert.deepEqual([count, server!.pauses, Math.round(server!.pausesNs / 1e6)], [2, 2, 6996]);
  assert.equal(Math.round(server!.usedNs / 1e5), 52);
  assert.deepEqual(said(gaps), []);
  assert.deepEqual(gapsFacts(gaps.result()).map(({ name, note }) => [name, note]), [
    ["nothing to do", "2 gaps"],
    ["left alone", "2 times, for half a second or longer"],
  ]);
  works(gaps, 8, 0, 2);
  assert.equal(gapsFacts(gaps.result())[1]!.note, "3 times, for half a second or longer, 2 processes added");
});

Deno.test("gaps: in which llmprof held the process still are as long without that", () => {
  const stopped = new StoppedTimes(), gaps = new GpuGaps(stopped);
  stopped.add(slice(7, "llmprof.stopped", 0.002, 0.702));
  works(gaps, 7, 0, 0.703);
  const { ns, processes: [only] } = gaps.result();
  assert.deepEqual([ns, only!.usedNs, only!.pauses].map((ns) => Math.round(ns / 1e6)), [2, 4, 0]);
});
