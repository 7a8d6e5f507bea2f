import assert from "node:assert/strict";
import type { Args, Slice } from "../events/span.ts";
import { DecodeContexts } from "./decode_contexts.ts";
import { FirstToken } from "./first_token.ts";
import { MS, TestSpans } from "../../tests/harness/spans.ts";

const s = new TestSpans();

function feed(...slices: Slice[]): FirstToken {
  const first = new FirstToken(s.pid, new DecodeContexts());
  for (const slice of slices) tell(first, slice);
  return first;
}

function tell(first: FirstToken, slice: Slice): void {
  if (slice.category === "llama.sample") return first.sample(slice);
  if (slice.category === "llama.context") {
    first.contexts.made(slice);
    first.made(slice);
  } else if (first.contexts.decode(slice) !== null) first.decode(slice);
}

/** A model that answers, and one that guesses for it. */
const LARGE = 1, DRAFT = 2;

const made = (context: number) => s.slice("llama.context", -2, -1, { ok: true, context });

function call(context: number, phase: "prefill" | "decode", start: number, end: number, more: Args = {}): Slice {
  const slice = s.decode(phase, start, end);
  return { ...slice, args: { ...slice.args, context, ...more } };
}

/** Two tokens behind one that is certain, and what the draft computes for that. */
const guesses = (at: number, phase: "prefill" | "decode" = "decode") => [
  call(DRAFT, phase, at, at + 4),
  s.sample(at + 4, at + 5),
  call(DRAFT, "decode", at + 5, at + 9),
  s.sample(at + 9, at + 10),
];

Deno.test("a prompt in pieces: the sampling after the last piece", () => {
  const first = feed(
    s.sample(0, 1),
    s.decode("prefill", 1, 5),
    s.decode("prefill", 5, 9),
    s.sample(10, 11),
    s.decode("decode", 12, 13),
    s.sample(13, 14),
  );
  assert.deepEqual([first.at, first.certain, first.basis, first.promptSeen], [11 * MS, true, "sampling", true]);
});

Deno.test("without sampling: the end of the call before the first that generates, warm-up left behind", () => {
  const first = feed(s.decode("prefill", 0, 1), s.decode("prefill", 5, 9), s.decode("decode", 12, 13), s.decode("prefill", 20, 30));
  assert.deepEqual([first.at, first.certain, first.basis], [9 * MS, true, "next call"]);
});

Deno.test("nothing follows: the end of the last call, for now", () => {
  const first = feed(s.decode("prefill", 0, 1), s.decode("prefill", 5, 9));
  assert.deepEqual([first.at, first.certain, first.basis], [9 * MS, false, "last call"]);
});

Deno.test("generation under way: the first call is no prompt", () => {
  const first = feed(s.decode("decode", 0, 1), s.decode("decode", 1, 2));
  assert.deepEqual([first.at, first.certain, first.promptSeen], [1 * MS, true, false]);
});

Deno.test("what failed, has not returned, or began before the prompt ended gives no token", () => {
  const failed = { ...s.decode("prefill", 0, 1), args: { tokens: 1, phase: "prefill", ret: -1 } };
  const first = feed(failed, s.decode("prefill", 2, 3, 1, true));
  assert.equal(first.at, undefined);
  tell(first, s.decode("prefill", 4, 6));
  first.sample(s.sample(5, 7));
  assert.equal(first.certain, false);
});

Deno.test("what a draft guesses before the model that answers has computed the whole prompt is no token", () => {
  const before = [
    ...[made(LARGE), made(DRAFT), call(LARGE, "prefill", 0, 900, { tokens: 15, position: 14 })],
    ...[call(DRAFT, "prefill", 900, 950, { tokens: 15, position: 14 }), ...guesses(956, "prefill")],
  ];
  assert.equal(feed(...before).certain, false);
  const tried = call(LARGE, "decode", 972, 1500, { tokens: 3, guessed: 2, position: 17 });
  const first = feed(...before, tried, s.sample(1500, 1501), s.sample(1501, 1502), ...guesses(1510));
  assert.deepEqual([first.at, first.begun, first.certain, first.basis, first.promptSeen], [1501 * MS, 0, true, "sampling", true]);
});

Deno.test("a draft that guesses before the model that answers computes anything, and beside it", () => {
  const first = feed(
    ...[made(LARGE), made(DRAFT), ...guesses(10, "prefill")],
    // At work at once: who ended first is sampled first.
    ...[call(LARGE, "prefill", 20, 50, { tokens: 18, position: 17 }), call(DRAFT, "decode", 48, 51), s.sample(52, 53), s.sample(53, 54)],
    ...[...guesses(60), call(LARGE, "decode", 70, 90, { tokens: 3, guessed: 2, position: 20 }), s.sample(90, 91)],
  );
  assert.deepEqual([first.at, first.begun, first.certain, first.basis], [53 * MS, 20 * MS, true, "sampling"]);
});

Deno.test("a draft that guesses behind the first token; one that never does; contexts that nobody calls", () => {
  const answer = [call(LARGE, "prefill", 0, 900), s.sample(900, 901)];
  const waits = feed(made(LARGE), made(DRAFT), ...answer, ...guesses(902));
  assert.deepEqual([waits.at, waits.certain], [901 * MS, false]);
  tell(waits, call(LARGE, "decode", 912, 930, { tokens: 3, guessed: 2 }));
  assert.deepEqual([waits.at, waits.certain, waits.basis], [901 * MS, true, "sampling"]);
  const alone = feed(made(LARGE), ...answer);
  assert.deepEqual([alone.at, alone.certain], [901 * MS, true]);
  const beside = feed(made(LARGE), made(DRAFT), ...answer);
  for (let at = 902; !beside.certain && at < 10_000; at += 2) {
    for (const slice of [call(LARGE, "decode", at, at + 1), s.sample(at + 1, at + 2)]) tell(beside, slice);
  }
  assert.deepEqual([beside.at, beside.certain, beside.basis], [901 * MS, true, "sampling"]);
  // Who is seen to guess later changes nothing.
  const others = [call(DRAFT, "decode", 20_000, 20_001), call(LARGE, "decode", 20_002, 20_003)];
  for (const slice of [...others, call(DRAFT, "decode", 20_004, 20_005, { tokens: 3, guessed: 2 })]) tell(beside, slice);
  assert.deepEqual([[...beside.contexts.guessers(s.pid)].map(({ address }) => address), beside.at], [[LARGE], 901 * MS]);
});

Deno.test("whoever asked for the token came before its prompt: one that goes on behind the last call, or begins anew", () => {
  const prompt = (start: number, tokens: number, position: number) => call(LARGE, "prefill", start, start + 10, { tokens, position });
  assert.equal(feed(prompt(10, 512, 511), prompt(20, 512, 1023), prompt(30, 76, 1099)).begun, 10 * MS);
  assert.equal(feed(prompt(10, 512, 511), prompt(50, 512, 511), prompt(60, 76, 587)).begun, 50 * MS);
  // A beginning that both have is kept.
  assert.equal(feed(prompt(10, 512, 511), prompt(50, 412, 511)).begun, 50 * MS);
  // A picture in it, of which all tokens have one place, and the text behind that.
  const picture = call(LARGE, "prefill", 20, 30, { tokens: 256, position: 300, runs: 0 });
  assert.equal(feed(prompt(10, 300, 299), picture, prompt(30, 10, 325)).begun, 10 * MS);
  assert.equal(feed(prompt(10, 300, 299), prompt(30, 10, 325)).begun, 10 * MS);
  // Where they are nobody says, or of one of several sequences alone.
  assert.equal(feed(call(LARGE, "prefill", 10, 20), call(LARGE, "prefill", 20, 30)).begun, 10 * MS);
  assert.equal(feed(prompt(10, 512, 511), call(LARGE, "prefill", 20, 30, { tokens: 700, runs: 2, begins: 512, position: 99 })).begun, 10 * MS);
});
