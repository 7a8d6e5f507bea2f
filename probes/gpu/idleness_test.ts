import assert from "node:assert/strict";
import type { GpuCall } from "../../lib/events/gpu.ts";
import type { Slice, Span } from "../../lib/events/span.ts";
import { Tracks } from "../../lib/events/tracks.ts";
import { isDoneAtReturn } from "./directions.ts";
import { Idleness } from "./idleness.ts";
import { type Family, signatureOf } from "./signatures.ts";

interface What {
  readonly stream?: number;
  readonly thread?: number;
  readonly event?: number;
  readonly flags?: number;
  readonly own?: number;
  readonly device?: number;
  readonly direction?: GpuCall["direction"];
  readonly result?: number;
}

type Made = readonly [name: string, began: number, ended: number, what?: What];

/** What is told of calls at these times. */
function told(all: readonly Made[], family: Family = "cuda"): readonly Span[] {
  const found: Span[] = [];
  const idleness = new Idleness(new Tracks());
  for (const [symbol, began, at, what = {}] of all) {
    const { stream, thread = 1, event, flags, own, device = 0, direction, result = 0 } = what;
    const signature = signatureOf(family, symbol)!;
    const gpu: GpuCall = {
      family,
      kind: signature.kind,
      result,
      failure: null,
      ...stream !== undefined && { stream },
      ...direction !== undefined && { direction, isWaited: isDoneAtReturn(symbol, family, direction) },
    };
    const place = { device, own }, perThread = symbol.endsWith("_ptsz");
    idleness.call({ signature, gpu, pid: 1, tid: thread, place, perThread, event, flags, began, at }, (span) => void found.push(span));
  }
  return found;
}

/** Gaps of them, as `[from, to]`. */
function gaps(all: readonly Made[], family?: Family): number[][] {
  return told(all, family).filter(({ type }) => type === "slice").map((span) => [(span as Slice).start, (span as Slice).end]);
}

const S7 = { stream: 7 }, S8 = { stream: 8 };

Deno.test("a gap lasts from a wait for all that was given to the next that is given", () => {
  const waits = [["cuLaunchKernel", 10, 11, S7], ["cuStreamSynchronize", 12, 20, S7], ["cuLaunchKernel", 35, 36, S7]] as const;
  assert.deepEqual(gaps(waits), [[20, 35]]);
  assert.deepEqual(gaps([["cuLaunchKernel", 10, 11, S7], ["cuCtxSynchronize", 12, 20], ["cuGraphLaunch", 50, 51, S7]]), [[20, 50]]);
  assert.deepEqual(gaps([["cuLaunchKernel", 10, 11, S7], ["cuLaunchKernel", 30, 31, S7]]), [], "nobody has waited");
});

Deno.test("who asks again and again whether it is done has waited when it is", () => {
  const E = { event: 0xe }, BUSY = { result: 600 };
  const launched = ["cuLaunchKernel", 10, 11, S7] as const, next = ["cuLaunchKernel", 35, 36, S7] as const;
  assert.deepEqual(gaps([launched, ["cuStreamQuery", 12, 13, { ...S7, ...BUSY }], ["cuStreamQuery", 20, 21, S7], next]), [[21, 35]]);
  assert.deepEqual(gaps([launched, ["cuStreamQuery", 12, 13, { ...S7, ...BUSY }], next]), []);
  const recorded = ["cuEventRecord", 11, 12, { ...S7, ...E }] as const;
  assert.deepEqual(gaps([launched, recorded, ["cuEventQuery", 13, 14, { ...E, ...BUSY }], ["cuEventQuery", 20, 21, E], next]), [[21, 35]]);
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
  const late = [["cuLaunchKernel", 14, 15, { ...S7, thread: 2 }], ["cuEventRecord", 15, 16, { ...S7, ...E, thread: 2 }]] as const;
  assert.deepEqual(gaps([["cuLaunchKernel", 10, 11, S7], recorded, ...late, waited, next]), [], "it was recorded anew meanwhile");
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

const DEFAULT = { stream: 0 };
/** A stream that has to do with the default stream, and one that has not. */
const made = (flags: number, stream = 7): Made => ["cuStreamCreate", 1, 2, { stream, flags }];

Deno.test("the default stream and blocking streams wait for each other: who has waited for one has waited for what the other was given before", () => {
  const next = ["cuLaunchKernel", 35, 36, S7] as const;
  const launch = (began: number, what: What): Made => ["cuLaunchKernel", began, began + 1, what];
  const wait = (what: What): Made => ["cuStreamSynchronize", 20, 30, what];
  for (const [flags, gap] of [[0, [[30, 35]]], [1, []]] as const) {
    assert.deepEqual(gaps([made(flags), launch(10, S7), launch(12, DEFAULT), wait(DEFAULT), next]), gap, "the default stream came behind");
    assert.deepEqual(gaps([made(flags), launch(10, DEFAULT), launch(12, S7), wait(S7), next]), gap, "and before");
    const copied = ["cuMemcpyDtoH", 20, 30, { ...DEFAULT, direction: "device to host" }] as const;
    assert.deepEqual(gaps([made(flags), launch(10, S7), copied, next]), gap, "a copy that is done when it returns");
    const event = { event: 0xe }, recorded = ["cuEventRecord", 14, 15, { ...DEFAULT, ...event }] as const;
    assert.deepEqual(gaps([made(flags), launch(10, S7), recorded, ["cuEventSynchronize", 20, 30, event], next]), gap, "an event");
    assert.deepEqual(gaps([made(flags), launch(10, DEFAULT), launch(12, S7), launch(14, DEFAULT), wait(S7), next]), [], "more behind it");
    // By way of the default stream also for another one.
    assert.deepEqual(gaps([made(flags), made(0, 8), launch(10, S7), launch(12, DEFAULT), launch(14, S8), wait(S8), next]), gap, "by way of it");
  }
  assert.deepEqual(gaps([made(0), launch(10, DEFAULT), launch(12, S7), wait(DEFAULT), next]), [], "what came behind it goes on");
  assert.deepEqual(gaps([made(0), launch(10, S7), wait(DEFAULT), next]), [], "it was given nothing");
  assert.deepEqual(gaps([launch(10, S7), launch(12, DEFAULT), wait(DEFAULT), next]), [], "one of which nobody saw how it was made");
  const own = (own: number, what: What) => ({ ...what, own });
  assert.deepEqual(gaps([made(0), launch(10, own(0xa, S7)), launch(12, own(0xb, DEFAULT)), wait(own(0xb, DEFAULT)), next]), [], "of another context");
  // The default stream of a thread is a blocking one.
  const ofThread = ["cuLaunchKernel_ptsz", 10, 11, DEFAULT] as const;
  assert.deepEqual(gaps([ofThread, launch(12, DEFAULT), wait(DEFAULT), next]), [[30, 35]]);
  const asked = [["cudaStreamCreate", 1, 2, S7], ["cudaLaunchKernel", 10, 11, S7], ["cudaMemcpy", 12, 30, { direction: "device to host" }]] as const;
  assert.deepEqual(gaps([...asked, ["cudaLaunchKernel", 35, 36, S7]], "cudart"), [[30, 35]], "by the runtime, which has no flags to say");
});

Deno.test("a stream that waits for an event goes on behind what was given before that was recorded: who has waited for one has waited for the other", () => {
  const next = ["cuLaunchKernel", 50, 51, S7] as const, S9 = { stream: 9 }, E = { event: 0xe }, F = { event: 0xf };
  const launch = (began: number, what: What): Made => ["cuLaunchKernel", began, began + 1, what];
  const record = (began: number, what: What): Made => ["cuEventRecord", began, began + 1, what];
  const waits = (began: number, what: What): Made => ["cuStreamWaitEvent", began, began + 1, what];
  const wait = (what: What): Made => ["cuStreamSynchronize", 30, 40, what];
  const behind = [launch(10, S7), record(12, { ...S7, ...E }), waits(14, { ...S8, ...E })] as const, gap = [[40, 50]];
  assert.deepEqual(gaps([...behind, launch(16, S8), wait(S8), next]), gap);
  assert.deepEqual(gaps([...behind, wait(S8), next]), gap, "it was given nothing itself");
  assert.deepEqual(gaps([...behind, launch(16, S8), ["cuMemcpyDtoH", 30, 40, { ...S8, direction: "device to host" }], next]), gap, "a copy");
  assert.deepEqual(gaps([...behind, launch(16, S8), record(18, { ...S8, ...F }), ["cuEventSynchronize", 30, 40, F], next]), gap, "an event");
  assert.deepEqual(gaps([...behind, record(18, { ...S8, ...F }), waits(20, { ...S9, ...F }), wait(S9), next]), gap, "by way of another one");
  assert.deepEqual(
    gaps([...behind, record(16, { ...S7, ...E }), ["cuEventDestroy", 18, 19, E], wait(S8), next]),
    gap,
    "what becomes of the event later",
  );
  assert.deepEqual(gaps([...behind, ["cuStreamDestroy", 16, 17, S7], wait(S8), next]), gap, "the stream that was waited for is gone");
  assert.deepEqual(gaps([made(0, 8), launch(8, DEFAULT), ...behind, wait(S8), next]), gap, "and behind the default stream");
  assert.deepEqual(gaps([made(0, 8), ...behind, launch(16, DEFAULT), wait(DEFAULT), next]), gap, "which begins behind the wait");
  assert.deepEqual(gaps([...behind, launch(16, S7), wait(S8), next]), [], "the other one was given more");
  assert.deepEqual(gaps([...behind, launch(16, S8), wait(S7), next]), [], "the other one does not wait for it");
  assert.deepEqual(gaps([launch(10, S7), waits(12, { ...S8, ...E }), wait(S8), next]), [], "an event that was recorded before anybody looked");
  const elsewhere = [launch(10, S7), waits(14, { ...S8, ...E }), record(16, { ...S7, ...E })] as const;
  assert.deepEqual(gaps([...elsewhere, wait(S8), next]), [], "one that is recorded afterwards");
  const meanwhile = waits(28, { ...S8, ...E, thread: 2 });
  assert.deepEqual(
    gaps([launch(10, S7), record(12, { ...S7, ...E }), ["cuStreamSynchronize", 28, 40, S8], meanwhile, next]),
    [],
    "another thread has it wait",
  );
  const late = { thread: 2, ...E };
  assert.deepEqual(gaps([launch(10, S7), record(15, { ...S7, ...late }), waits(14, { ...S8, ...E }), wait(S8), next]), [], "or records it");
});

Deno.test("a stream is on the GPU where it was made, or where the runtime launches a kernel in it, and not where it is asked for something else", () => {
  const E = { event: 0xe }, THERE = { device: 1 };
  const launch = (began: number, what: What): Made => ["cudaLaunchKernel", began, began + 1, { ...THERE, ...what }];
  const wait = (what: What = {}): Made => ["cudaDeviceSynchronize", 30, 40, what];
  const next = launch(50, S7), behind = [launch(10, S7), ["cudaEventRecord", 12, 13, { ...S7, ...E, ...THERE }]] as const;
  // It waits for an event of the other GPU, told so by a thread of this one.
  const told = [...behind, ["cudaStreamWaitEvent", 14, 15, { ...S8, ...E }]] as const;
  const copied = ["cudaMemcpyAsync", 16, 17, { ...S8, direction: "on the device" }] as const;
  const over = (...all: readonly Made[]) => gaps(all, "cudart");
  assert.deepEqual(over(...told, wait(), next), [], "nobody has said where it is");
  assert.deepEqual(over(...told, copied, wait(), next), [], "a copy does not say so");
  assert.deepEqual(over(copied, launch(18, S7), wait(THERE), next), [], "and to have waited for the other GPU is not enough");
  assert.deepEqual(over(launch(10, S8), copied, wait(), next), [], "it is on the other one");
  assert.deepEqual(over(launch(10, S8), copied, wait(THERE), next), [[40, 50]]);
  assert.deepEqual(over(["cudaStreamCreate", 1, 2, { ...S8, ...THERE }], copied, wait(THERE), next), [[40, 50]], "and was made there");
  assert.deepEqual(over(["cudaStreamCreate", 1, 2, { ...S8, ...THERE }], copied, wait(), next), []);
  // The driver launches where the stream is.
  const launched = [["cuLaunchKernel", 10, 11, S8], ["cuCtxSynchronize", 30, 40]] as const;
  assert.deepEqual(gaps([...launched, ["cuLaunchKernel", 50, 51, S8]]), [[40, 50]], "a process that is on one GPU alone");
  assert.deepEqual(gaps([["cuCtxSynchronize", 5, 6, THERE], ...launched, ["cuLaunchKernel", 50, 51, S8]]), [[6, 10]], "and one on two");
});

Deno.test("a stream that is destroyed at work may go on with it until all is waited for, also where its handle is another's", () => {
  const destroyed = ["cuStreamDestroy_v2", 12, 13, S7] as const, launch = ["cuLaunchKernel", 10, 11, S7] as const;
  const again = [made(0), ["cuLaunchKernel", 15, 16, S7], ["cuStreamSynchronize", 17, 20, S7]] as const,
    next = ["cuLaunchKernel", 35, 36, S7] as const;
  const abandoned = (all: readonly Made[]) =>
    told(all).flatMap((span) => span.type === "instant" ? [`${span.category} ${span.at} ${span.args!.stream}`] : []);
  assert.deepEqual(gaps([launch, destroyed, ...again, next]), []);
  assert.deepEqual(abandoned([launch, destroyed, ...again, next]), ["gpu.abandoned 13 0x7"]);
  assert.deepEqual(gaps([launch, destroyed, ...again, ["cuCtxSynchronize", 21, 30], next]), [[30, 35]]);
  // It goes on behind the default stream, as it would have otherwise.
  const common = [["cuLaunchKernel", 22, 23, DEFAULT], ["cuStreamSynchronize", 24, 30, DEFAULT]] as const;
  assert.deepEqual(gaps([made(0), launch, destroyed, ...common, next]), [[30, 35]]);
  assert.deepEqual(gaps([made(1), launch, destroyed, ...common, next]), []);
  assert.deepEqual(abandoned([launch, ["cuStreamSynchronize", 11, 12, S7], destroyed]), [], "it was waited for");
  assert.deepEqual(abandoned([destroyed]), []);
});

Deno.test("a copy that returns when it is done is a wait as well, where nothing else was asked, and none that stays on the device", () => {
  const copied = (direction: What["direction"], ...before: readonly Made[]) =>
    gaps([...before, ["cuMemcpy", 10, 20, { direction }], ["cuLaunchKernel", 30, 31, S7]]);
  assert.deepEqual(copied("host to device"), [[20, 30]]);
  assert.deepEqual(copied("device to host"), [[20, 30]]);
  for (const direction of ["on the device", "between devices", "by the addresses"] as const) assert.deepEqual(copied(direction), [], direction);
  assert.deepEqual(copied("device to host", ["cuLaunchKernel", 5, 6, S7]), []);
  assert.deepEqual(copied("device to host", ["cuLaunchKernel", 5, 6, { stream: 0 }]), [[20, 30]], "it comes behind that");
  assert.deepEqual(copied("host to device", ["cuLaunchKernel", 5, 6, { stream: 0 }]), []);
});

Deno.test("what was given to a stream that nobody knows is done with the next wait", () => {
  const launch = ["cudaLaunchKernel", 10, 11, S7] as const, next = ["cudaLaunchKernel", 35, 36, S7] as const;
  const waited = (began: number, ended: number): Made => ["cudaStreamSynchronize", began, ended, S7];
  for (const name of ["cudaMemPrefetchAsync", "cudaMemcpyBatchAsync"]) {
    assert.deepEqual(gaps([launch, [name, 12, 13], waited(14, 20), next], "cudart"), [[20, 35]], name);
    assert.deepEqual(gaps([launch, waited(12, 20), [name, 25, 26], waited(27, 30), next], "cudart"), [[20, 25], [30, 35]], `${name} is work`);
  }
  assert.deepEqual(gaps([launch, ["cudaMemset", 12, 13], waited(14, 20), next], "cudart"), [], "the stream without a name");
  assert.deepEqual(gaps([launch, ["cudaMemcpyWithAttributesAsync", 12, 13, S8], waited(14, 20), next], "cudart"), [], "one that is known");
});

Deno.test("a gap begins with the first wait, and with the outer one of two that lie in one another", () => {
  const launch = ["cuLaunchKernel", 10, 11, S7] as const, next = ["cuLaunchKernel", 35, 36, S7] as const;
  assert.deepEqual(gaps([launch, ["cuStreamSynchronize", 12, 20, S7], ["cuCtxSynchronize", 30, 31], next]), [[20, 35]]);
  assert.deepEqual(gaps([launch, ["cuStreamSynchronize", 12, 20, S7], ["cuStreamSynchronize", 11, 21, S7], next]), [[21, 35]]);
});

Deno.test("what a context had been given is done when it is gone", () => {
  const found: Span[] = [];
  const idleness = new Idleness(new Tracks());
  const call = (name: string, began: number, own: number) => {
    const signature = signatureOf("cuda", name)!, gpu = { family: "cuda", kind: signature.kind, result: 0, failure: null, stream: own };
    const place = { device: 0, own };
    const done = { signature, gpu, pid: 1, tid: 1, place, perThread: false, event: undefined, flags: undefined, began, at: began + 1 };
    idleness.call(done, (span) => void found.push(span));
  };
  call("cuLaunchKernel", 10, 0xa);
  idleness.leaves(1, { device: 0, own: 0xa });
  call("cuLaunchKernel", 20, 0xb);
  call("cuStreamSynchronize", 30, 0xb);
  call("cuLaunchKernel", 40, 0xb);
  assert.deepEqual((found as Slice[]).map(({ start, end }) => [start, end]), [[31, 40]]);
});
