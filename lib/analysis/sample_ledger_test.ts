import assert from "node:assert/strict";
import type { Instant } from "../events/span.ts";
import { SAMPLES_PER_SECOND } from "../programs/detail.ts";
import { TestSpans } from "../../tests/harness/spans.ts";
import { SampleLedger } from "./sample_ledger.ts";
import { WaitingSamples } from "./waiting_samples.ts";

const s = new TestSpans();
const { track } = s.decode("decode", 0, 1);

/** Milliseconds. */
function sample(at: number, name: string, work = "MUL_MAT"): Instant {
  return { type: "instant", track, name, category: "ggml.sample", at: at * 1e6, args: { work, library: "libggml-cpu.so" } };
}

Deno.test("samples belong to the call that they lie in, to the first that ends where calls overlap, and else to none", () => {
  const ledger = new SampleLedger();
  for (const at of [1, 12, 14]) ledger.sample(sample(at, "dot"));
  ledger.decode(s.decode("prefill", 10, 15, 4));
  for (const at of [16, 22, 23, 26]) ledger.sample(sample(at, "norm", "RMS_NORM"));
  ledger.decode(s.decode("decode", 21, 24));
  ledger.sample(sample(28, "dot_f16"));
  ledger.decode(s.decode("decode", 20, 30));
  const { count, works, functions, perSecond } = ledger.result();
  assert.equal(count, 8);
  assert.equal(perSecond, SAMPLES_PER_SECOND);
  assert.deepEqual(works.map(({ name, samples, share, prefill, decode, other }) => [name, samples, share, prefill, decode, other]), [
    ["MUL_MAT", 4, 0.5, 2, 1, 1],
    ["RMS_NORM", 4, 0.5, 0, 3, 1],
  ]);
  assert.deepEqual(functions.map(({ name, work, samples }) => [name, work, samples]), [["norm", "RMS_NORM", 4], ["dot", "MUL_MAT", 3], [
    "dot_f16",
    "MUL_MAT",
    1,
  ]]);
});

Deno.test("the error of a share is that of so many samples, and none is certain", () => {
  const ledger = new SampleLedger();
  for (let i = 0; i < 1000; i++) ledger.sample(sample(i, i % 4 === 0 ? "a" : "b", i % 4 === 0 ? "A" : "B"));
  const [b, a] = ledger.result().works;
  assert.deepEqual([a!.share, b!.share], [0.25, 0.75]);
  // 1.96 × √(0.25 × 0.75 / 1000).
  for (const { error } of [a!, b!]) assert.ok(Math.abs(error - 0.0268) < 0.0003, String(error));
  const one = new SampleLedger();
  one.sample(sample(1, "a"));
  assert.ok(one.result().works[0]!.error > 0.3);
});

Deno.test("a call that takes longer than samples are kept has all of its samples, whatever ran before it, and so has a short one behind it", () => {
  const ledger = new SampleLedger(), LONG = 200_003, SHORT = 53;
  let at = 0;
  const run = (times: number, name: string) => {
    for (const end = at + times; at < end; at++) ledger.sample(sample(at, name));
  };
  run(70_000, "idle");
  const long = at;
  run(LONG / 3 | 0, "start");
  run(LONG - (LONG / 3 | 0), "rest");
  ledger.decode(s.decode("prefill", long - 0.5, at - 0.5, 512));
  run(131_072, "idle");
  const short = at;
  run(SHORT, "token");
  ledger.decode(s.decode("decode", short - 0.5, at - 0.5));
  const { count, functions } = ledger.result(), of = (name: string) => functions.find((one) => one.name === name)!;
  assert.equal(count, 70_000 + LONG + 131_072 + SHORT);
  assert.deepEqual([of("start"), of("rest")].map(({ samples, prefill }) => [samples, prefill]), [[66_667, 66_667], [133_336, 133_336]]);
  assert.deepEqual([of("token").samples, of("token").decode], [SHORT, SHORT]);
  // As long before a call as a small part of it.
  assert.ok(of("idle").prefill < 0.02 * LONG && of("idle").decode < 0.05 * SHORT, JSON.stringify(of("idle")));
});

Deno.test("what waits for a call is bounded, and nothing is lost by it", () => {
  const waiting = new WaitingSamples<number>(1000);
  let most = 0;
  for (let i = 0; i < 200_000; i++) {
    waiting.add(i * 1e6, i % 97);
    most = Math.max(most, waiting.size);
  }
  assert.equal(most, 1000);
  assert.equal(waiting.take(-Infinity, Infinity).reduce((sum, { count }) => sum + count, 0), 200_000);
  assert.equal(waiting.size, 0);
});

Deno.test("of more kinds than are kept, samples are put together now and then, and not with each that comes", () => {
  const waiting = new WaitingSamples<number>(50), KINDS = 150, TIMES = 1500;
  let together = 0, most = 0;
  for (let i = 0; i < TIMES; i++) {
    const before = waiting.size;
    waiting.add(i * 1e6, i % KINDS);
    if (waiting.size <= before) together++;
    most = Math.max(most, waiting.size);
  }
  // Behind each time half as many come as are left; and of ages that are told apart there are fewer than doublings of a nanosecond.
  assert.ok(together > 0 && together < TIMES / (KINDS / 2), String(together));
  assert.ok(most <= 1.5 * KINDS * Math.log2(TIMES * 1e6), String(most));
  assert.equal(waiting.take(-Infinity, Infinity).reduce((sum, { count }) => sum + count, 0), TIMES);
});

Deno.test("functions of one name that work on different things are rows of their own", () => {
  const ledger = new SampleLedger();
  for (const [at, work] of [[1, "ADD"], [2, "MUL"], [3, "MUL"]] as const) ledger.sample(sample(at, "apply_binary_op<…>", work));
  const { works, functions } = ledger.result();
  assert.deepEqual(works.map(({ name, samples }) => [name, samples]), [["MUL", 2], ["ADD", 1]]);
  assert.deepEqual(functions.map(({ work, samples }) => [work, samples]), [["MUL", 2], ["ADD", 1]]);
});
