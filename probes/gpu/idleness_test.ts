import assert from "node:assert/strict";
import type { GpuCall, Slice, Span } from "../../lib/events/span.ts";
import { Tracks } from "../../lib/events/tracks.ts";
import { Idleness } from "./idleness.ts";
import { type Family, signatureOf } from "./signatures.ts";

interface What {
  readonly stream?: number;
  readonly thread?: number;
  readonly event?: number;
  readonly own?: number;
  readonly direction?: GpuCall["direction"];
}

type Made = readonly [name: string, began: number, ended: number, what?: What];

/** Gaps of calls at these times, as `[from, to]`. */
function gaps(all: readonly Made[], family: Family = "cuda"): number[][] {
  const found: Span[] = [];
  const idleness = new Idleness(new Tracks());
  for (const [symbol, began, at, what = {}] of all) {
    const { stream, thread = 1, event, own, direction } = what;
    const signature = signatureOf(family, symbol)!;
    const gpu: GpuCall = {
      family,
      kind: signature.kind,
      result: 0,
      failure: null,
      ...stream !== undefined && { stream },
      ...direction !== undefined && { direction },
    };
    const place = { device: 0, own }, perThread = symbol.endsWith("_ptsz");
    idleness.call({ signature, gpu, pid: 1, tid: thread, place, perThread, event, began, at }, (span) => void found.push(span));
  }
  return (found as Slice[]).map(({ start, end }) => [start, end]);
}

const S7 = { stream: 7 }, S8 = { stream: 8 };

Deno.test("a gap lasts from a wait for all that was given to the next that is given", () => {
  const waits = [["cuLaunchKernel", 10, 11, S7], ["cuStreamSynchronize", 12, 20, S7], ["cuLaunchKernel", 35, 36, S7]] as const;
  assert.deepEqual(gaps(waits), [[20, 35]]);
  assert.deepEqual(gaps([["cuLaunchKernel", 10, 11, S7], ["cuCtxSynchronize", 12, 20], ["cuGraphLaunch", 50, 51, S7]]), [[20, 50]]);
  assert.deepEqual(gaps([["cuLaunchKernel", 10, 11, S7], ["cuLaunchKernel", 30, 31, S7]]), [], "nobody has waited");
});

Deno.test("a stream that nobody has waited for may still be at work", () => {
  const first = [["cuLaunchKernel", 10, 11, S7], ["cuLaunchKernel", 11, 12, S8], ["cuStreamSynchronize", 12, 20, S7]] as const;
  assert.deepEqual(gaps([...first, ["cuLaunchKernel", 35, 36, S7]]), []);
  assert.deepEqual(gaps([...first, ["cuStreamSynchronize", 21, 22, S8], ["cuLaunchKernel", 35, 36, S7]]), [[22, 35]]);
});

Deno.test("a wait for an event is one for what its stream had been given when it was recorded", () => {
  const E = { event: 0xe }, recorded = ["cuEventRecord", 11, 12, { ...S7, ...E }] as const, waited = ["cuEventSynchronize", 13, 20, E] as const;
  const next = ["cuLaunchKernel", 35, 36, S7] as const;
  assert.deepEqual(gaps([["cuLaunchKernel", 10, 11, S7], recorded, waited, next]), [[20, 35]]);
  assert.deepEqual(gaps([["cuLaunchKernel", 10, 11, S7], recorded, ["cuLaunchKernel", 12, 13, S7], waited, next]), [], "more behind it");
  assert.deepEqual(gaps([["cuLaunchKernel", 10, 11, S7], waited, next]), [], "one that was recorded before anybody looked");
});

Deno.test("a wait is for what was given before it, in its context", () => {
  const next = ["cuLaunchKernel", 35, 36, S7] as const;
  // Another thread gives the same stream more, or another context has work.
  assert.deepEqual(gaps([["cuLaunchKernel", 10, 11, S7], ["cuLaunchKernel", 14, 15, { ...S7, thread: 2 }], ["cuCtxSynchronize", 12, 20], next]), []);
  assert.deepEqual(gaps([["cuLaunchKernel", 10, 11, { ...S7, own: 0xa }], ["cuCtxSynchronize", 12, 20, { own: 0xb }], next]), []);
  assert.deepEqual(gaps([["cuLaunchKernel", 10, 11, { ...S7, own: 0xa }], ["cuCtxSynchronize", 12, 20, { own: 0xa }], next]), [[20, 35]]);
});

Deno.test("the stream without a name is a context's, or that of each thread", () => {
  const one = { stream: 0, thread: 1 }, two = { stream: 0, thread: 2 };
  const twice = (launch: string, wait: string) => gaps([[launch, 10, 11, one], [launch, 11, 12, two], [wait, 13, 20, one], [launch, 35, 36, one]]);
  assert.deepEqual(twice("cuLaunchKernel", "cuStreamSynchronize"), [[20, 35]]);
  assert.deepEqual(twice("cuLaunchKernel_ptsz", "cuStreamSynchronize_ptsz"), []);
  assert.deepEqual(
    gaps([["cuLaunchKernel", 10, 11, { stream: 2, thread: 2 }], ["cuStreamSynchronize", 13, 20, { stream: 2 }], ["cuLaunchKernel", 35, 36, one]]),
    [],
  );
});

Deno.test("a copy that returns when it is done is a wait as well, where nothing else was asked, and none that stays on the device", () => {
  assert.deepEqual(gaps([["cuMemcpyDtoH", 10, 20], ["cuLaunchKernel", 30, 31, S7]]), [[20, 30]]);
  assert.deepEqual(gaps([["cuLaunchKernel", 5, 6, S7], ["cuMemcpyDtoH", 10, 20], ["cuLaunchKernel", 30, 31, S7]]), []);
  const toHost = { direction: "device to host" } as const;
  assert.deepEqual(gaps([["cuLaunchKernel", 5, 6, { stream: 0 }], ["cuMemcpyDtoH", 10, 20, toHost], ["cuLaunchKernel", 30, 31, S7]]), [[20, 30]]);
  assert.deepEqual(gaps([["cuMemcpyDtoD", 10, 20, { direction: "on the device" }], ["cuLaunchKernel", 30, 31, S7]]), []);
});
