import assert from "node:assert/strict";
import type { Args } from "../events/span.ts";
import { TestSpans } from "../../tests/harness/spans.ts";
import { SlowTokens } from "./slow_tokens.ts";

/** Tokens of so many milliseconds each, one behind the other: half in `llama_decode`. What was told of a slow one. */
function told(tokens: SlowTokens, milliseconds: readonly number[], phase: "prefill" | "decode" = "decode"): Promise<unknown> {
  const s = new TestSpans();
  const next = tokens.next();
  let at = 5000;
  // The first follows nothing that was seen.
  tokens.span(s.decode("decode", 0, at));
  for (const ms of milliseconds) tokens.span(s.decode(phase, at + ms / 2, at += ms));
  return Promise.race([next, new Promise((resolve) => setTimeout(() => resolve("none"), 1))]);
}

const usual = Array.from({ length: 16 }, (_, i) => 9 + i % 3);

Deno.test("slow tokens: one that takes more than the factor times the median of those before", async () => {
  assert.deepEqual(await told(new SlowTokens(1.5), [...usual, 16, 40]), { ns: 16e6, median: 10e6 });
  assert.equal(await told(new SlowTokens(1.5), [...usual, 15]), "none");
  assert.equal(await told(new SlowTokens(1.5), [...usual.slice(1), 40]), "none", "too few are known");
  assert.equal(await told(new SlowTokens(1.5), [...usual, 16], "prefill"), "none");
});

Deno.test("slow tokens: the wait before a prompt is no token's, and processes do not wait for each other", async () => {
  const tokens = new SlowTokens(1.5);
  const next = tokens.next();
  const [a, b] = [new TestSpans(100), new TestSpans(200)];
  for (let i = 0; i < 20; i++) {
    tokens.span(a.decode("decode", 20 * i + 5, 20 * i + 10));
    tokens.span(b.decode("decode", 20 * i + 15, 20 * i + 20));
  }
  tokens.span(a.decode("prefill", 5000, 5100));
  tokens.span(a.decode("decode", 5110, 5120));
  tokens.span(a.decode("decode", 5140, 5151));
  assert.deepEqual(await next, { ns: 31e6, median: 20e6 });
});

Deno.test("slow tokens: one that waits for another sequence's prompt is told, and a prompt alone is none", async () => {
  const last = async (args: Args) => {
    const tokens = new SlowTokens(1.5), s = new TestSpans();
    await told(tokens, usual);
    const next = tokens.next(), slice = s.decode("prefill", 7010, 7040, 100);
    tokens.span(s.decode("decode", 6990, 7000));
    tokens.span({ ...slice, args: { ...slice.args, ...args } });
    return Promise.race([next, new Promise((resolve) => setTimeout(() => resolve("none"), 1))]);
  };
  assert.deepEqual(await last({ generated: 3 }), { ns: 40e6, median: 10e6 });
  assert.equal(await last({}), "none");
});

Deno.test("slow tokens: what is usual follows the last ones, and only while somebody waits", async () => {
  const tokens = new SlowTokens(1.5);
  const slower = Array.from({ length: 64 }, () => 20);
  await told(tokens, [...usual, 16]);
  // Nobody waits: these are looked at more closely.
  for (const ms of slower) tokens.span(new TestSpans().decode("decode", 0, ms));
  assert.deepEqual(await told(tokens, [20]), { ns: 20e6, median: 10e6 });
  // The first ones are slow, and then it is what is usual.
  await told(tokens, slower.slice(0, 32));
  for (let i = 0; i < 64; i++) await told(tokens, [20]);
  assert.equal(await told(tokens, [29]), "none");
});

Deno.test("slow tokens: a context that guesses waits for the other one, which is none of its tokens", async () => {
  const tokens = new SlowTokens(1.5), s = new TestSpans();
  const next = tokens.next();
  const call = (context: number, start: number, end: number, guessed?: number) => {
    const slice = s.decode("decode", start, end);
    tokens.span({ ...slice, args: { ...slice.args!, context, ...guessed !== undefined && { guessed } } });
  };
  const round = (at: number, last: number) => {
    for (let i = 0; i < 3; i++) call(2, at + i, at + i + 1);
    call(1, at + 3, at + last, 3);
  };
  for (let i = 0; i < 20; i++) round(10 * i, 10);
  round(200, 21);
  assert.deepEqual(await next, { ns: 21e6, median: 10e6 });
});
