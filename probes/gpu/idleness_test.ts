import assert from "node:assert/strict";
import type { GpuCall, Slice, Span } from "../../lib/events/span.ts";
import { Tracks } from "../../lib/events/tracks.ts";
import { Idleness } from "./idleness.ts";
import { type Family, signatureOf } from "./signatures.ts";

/** Gaps of calls at these times, as `[from, to]`. */
function gaps(all: readonly (readonly [name: string, began: number, ended: number, stream?: number])[], family: Family = "cuda"): number[][] {
  const found: Span[] = [];
  const idleness = new Idleness(new Tracks());
  for (const [name, began, ended, stream] of all) {
    const signature = signatureOf(family, name)!;
    const call: GpuCall = { family, kind: signature.kind, result: 0, failure: null, ...stream !== undefined && { stream } };
    idleness.call(signature, call, 1, began, ended, (span) => void found.push(span));
  }
  return (found as Slice[]).map(({ start, end }) => [start, end]);
}

Deno.test("a gap lasts from a wait for all that was given to the next that is given", () => {
  const waits = [["cuLaunchKernel", 10, 11, 7], ["cuStreamSynchronize", 12, 20, 7], ["cuLaunchKernel", 35, 36, 7]] as const;
  assert.deepEqual(gaps(waits), [[20, 35]]);
  assert.deepEqual(gaps([["cuLaunchKernel", 10, 11, 7], ["cuCtxSynchronize", 12, 20], ["cuGraphLaunch", 50, 51, 7]]), [[20, 50]]);
  assert.deepEqual(gaps([["cuLaunchKernel", 10, 11, 7], ["cuLaunchKernel", 30, 31, 7]]), [], "nobody has waited");
});

Deno.test("a stream that nobody has waited for may still be at work, and what an event stands for is not known", () => {
  const first = [["cuLaunchKernel", 10, 11, 7], ["cuLaunchKernel", 11, 12, 8], ["cuStreamSynchronize", 12, 20, 7]] as const;
  assert.deepEqual(gaps([...first, ["cuLaunchKernel", 35, 36, 7]]), []);
  assert.deepEqual(gaps([...first, ["cuStreamSynchronize", 21, 22, 8], ["cuLaunchKernel", 35, 36, 7]]), [[22, 35]]);
  assert.deepEqual(gaps([["cuLaunchKernel", 10, 11, 7], ["cuEventSynchronize", 12, 20], ["cuLaunchKernel", 35, 36, 7]]), []);
});

Deno.test("a copy that returns when it is done is a wait as well, where nothing else was asked", () => {
  assert.deepEqual(gaps([["cuMemcpyDtoH", 10, 20], ["cuLaunchKernel", 30, 31, 7]]), [[20, 30]]);
  assert.deepEqual(gaps([["cuLaunchKernel", 5, 6, 7], ["cuMemcpyDtoH", 10, 20], ["cuLaunchKernel", 30, 31, 7]]), []);
});
