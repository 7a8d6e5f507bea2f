import assert from "node:assert/strict";
import { NestedCalls } from "./nested_calls.ts";
import { xorshift } from "../../tests/workloads/random.ts";
import { Passes, PassKinds } from "./passes.ts";

/** Calls one behind another, each after its gap. Microseconds. */
function calls(kinds: PassKinds, steps: readonly (readonly [name: string, gap: number])[], stood = 0): void {
  const passes = new Passes(kinds, (start, end) => end - start - stood * 1000);
  const nested = new NestedCalls(() => {}, (call, gap) => passes.call(call, gap));
  let now = 1e15;
  for (const [name, gap] of steps) {
    const start = now + gap * 1000;
    now = start + 10_000;
    nested.ended({ name, start, end: now, ns: 10_000 });
  }
  nested.end();
  passes.interrupt();
}

function told(kinds: PassKinds): unknown[] {
  return kinds.result().kinds.map((
    { first, last, calls, times, totalNs, beforeP50Ns },
  ) => [first, last, calls, times, totalNs / 1000, beforeP50Ns === null ? null : Math.round(beforeP50Ns / 100_000)]);
}

const forward = (pause: number) => [["norm", pause], ["linear", 7], ["softmax", 9], ["linear", 8]] as const;

Deno.test("passes: the same calls in the same order are one kind, however long the pauses are", () => {
  const kinds = new PassKinds();
  const sampled = (pause: number) => [["argmax", pause], ["item", 5]] as const;
  calls(kinds, [forward(0), sampled(200), forward(1500), sampled(300), forward(1500), forward(1500)].flat());
  assert.deepEqual(told(kinds), [["norm", "linear", 4, 4, 4 * 64, 15], ["argmax", "item", 2, 2, 2 * 25, 2]]);
});

Deno.test("passes: another order is another kind, and threads share them", () => {
  const kinds = new PassKinds();
  const turned = [["norm", 900], ["softmax", 9], ["linear", 7], ["linear", 8]] as const;
  for (let i = 0; i < 3; i++) calls(kinds, [...forward(0), ...turned], 1);
  assert.deepEqual(told(kinds).map((row) => (row as unknown[]).slice(0, 5)), [["norm", "linear", 4, 3, 189], ["norm", "linear", 4, 3, 189]]);
});

Deno.test("passes: what is usual follows the program: slow calls are no pause, and where nothing is long there is one pass", () => {
  const slow = new PassKinds();
  // 400 µs between two, at first taken for a pause each.
  calls(slow, Array.from({ length: 1000 }, () => ["add", 400] as const));
  const { kinds, others } = slow.result();
  assert.deepEqual([kinds.length, kinds[0]!.calls, others.times], [1, 1, 1]);
  assert.ok(kinds[0]!.times < 100 && others.totalNs > 900 * 410_000, JSON.stringify(others));
  const even = new PassKinds();
  calls(even, Array.from({ length: 1000 }, (_, i) => ["add", i % 10 === 0 ? 49 : 1] as const));
  assert.deepEqual([told(even), even.result().others.times], [[], 1], "50 µs at least");
});

Deno.test("passes: one that somebody else interrupts is one", () => {
  const kinds = new PassKinds();
  const cut = (at: number) => forward(900).map(([name, gap], i) => [name, i === at ? 4000 : gap] as const);
  calls(kinds, [forward(0), cut(1), forward(900), cut(2), cut(3), cut(2), forward(900), [["norm", 900], ["linear", 4000]] as const].flat());
  const { kinds: [only, ...more], others } = kinds.result();
  assert.deepEqual([only!.calls, only!.times, only!.maxNs, more], [4, 7, 40_000 + 24_000 + 3_993_000, []]);
  assert.deepEqual(others, { times: 1, totalNs: 4_020_000 });
});

Deno.test("passes: one that somebody else interrupts in many places is one", () => {
  const kinds = new PassKinds();
  const random = xorshift(7);
  const names = ["embedding", ...Array.from({ length: 383 }, (_, i) => ["add", "linear", "view"][i % 5 % 3]!)];
  const torn = (often: number) => names.map((name, i) => [name, i === 0 ? 20_000 : random() < often * 2 ** 32 ? 150 + random() % 4000 : 7] as const);
  calls(kinds, Array.from({ length: 17 }, (_, i) => torn(i < 8 ? 0.01 : 0.2)).flat());
  const { kinds: told, others } = kinds.result();
  assert.deepEqual(told.map(({ calls, times, beforeP50Ns }) => [calls, times, Math.round(beforeP50Ns! / 1e6)]), [[384, 17, 20]]);
  assert.deepEqual(others, { times: 0, totalNs: 0 });
});

Deno.test("passes: pauses by chance between layers that are alike do not make one pass of two", () => {
  const kinds = new PassKinds();
  const layers = (torn: number) => Array.from({ length: 3 }, (_, i) => forward(i === 0 ? 900 : i === torn ? 200 : 8)).flat();
  calls(kinds, [layers(0), layers(1), layers(0), layers(1), layers(0), layers(1), layers(0)].flat());
  assert.deepEqual(kinds.result().kinds.map(({ calls, times }) => [calls, times]), [[12, 7]]);
});

Deno.test("passes: two that once came without a pause are not taken for what they always are", () => {
  const kinds = new PassKinds();
  const close = [...forward(900), ...forward(8)];
  calls(kinds, [forward(0), forward(900), close, forward(900), close, forward(900), forward(900)].flat());
  assert.deepEqual(kinds.result().kinds.map(({ calls, times }) => [calls, times]), [[4, 5], [8, 2]]);
});

Deno.test("passes: however many there are, few are kept, and each is counted", () => {
  const kinds = new PassKinds();
  const once = (i: number) => [["new", 1000], ...Array.from({ length: i % 3000 }, () => ["add", 5] as const)] as const;
  const steps = Array.from({ length: 9000 }, (_, i) => i % 9 === 0 ? once(i) : forward(1000)).flat();
  calls(kinds, steps);
  const { kinds: kept, others } = kinds.result();
  assert.deepEqual([kept[0]!.times, kept[0]!.first], [8000, "norm"]);
  assert.ok(kept.length <= 256, `${kept.length}`);
  assert.equal(kept.reduce((sum, { times }) => sum + times, others.times), 9000);
});
