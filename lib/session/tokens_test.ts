import assert from "node:assert/strict";
import { MS, TestSpans } from "../../tests/harness/spans.ts";
import { TokenCount } from "./tokens.ts";

const s = new TestSpans();

async function reached(tokens: TokenCount): Promise<boolean> {
  return await Promise.race([tokens.reached.then(() => true), Promise.resolve().then(() => false)]);
}

Deno.test("tokens: the first sampling after a decode is a token, the prompt's too", async () => {
  const tokens = new TokenCount(2);
  tokens.span(s.sample(0, 1));
  assert.equal(tokens.count, 0);
  tokens.span(s.decode("prefill", 1, 5, 12));
  tokens.span(s.sample(5, 6));
  tokens.span(s.sample(6, 7));
  assert.equal(tokens.count, 1);
  assert.equal(await reached(tokens), false);
  tokens.span(s.decode("decode", 7, 9));
  tokens.span(s.sample(9, 10));
  assert.equal(await reached(tokens), true);
});

Deno.test("tokens: where an engine samples by itself, decodes count", async () => {
  const tokens = new TokenCount(2);
  for (const span of [s.decode("prefill", 0, 5, 12), s.decode("decode", 5, 6), s.graph(5, 6), s.exec(6)]) tokens.span(span);
  assert.deepEqual([tokens.count, await reached(tokens)], [1, false]);
  tokens.span(s.decode("decode", 6, 7));
  assert.equal(await reached(tokens), true);
});

Deno.test("tokens: without a limit they are counted and never enough", async () => {
  const tokens = new TokenCount(undefined);
  for (let i = 0; i < 100; i++) tokens.span(s.decode("decode", i, i + 1));
  assert.deepEqual([tokens.count, await reached(tokens)], [100, false]);
});

Deno.test("tokens: of several sequences at once each has one, and what a draft computes and what was guessed wrong is none", () => {
  const tokens = new TokenCount(undefined);
  const call = (context: number, at: number, more: Readonly<Record<string, number>>) => {
    const slice = s.decode("decode", at, at + 1);
    tokens.span({ ...slice, args: { ...slice.args!, context, ...more } });
  };
  call(1, 0, { tokens: 3 });
  assert.equal(tokens.count, 3);
  call(1, 10, { tokens: 1, position: 100 });
  assert.equal(tokens.count, 4);
  // Two of three guesses are right each time.
  for (let i = 0; i < 5; i++) {
    for (let j = 0; j < 3; j++) call(2, 20 + 10 * i + 2 * j, { tokens: 1, position: j });
    call(1, 27 + 10 * i, { tokens: 4, guessed: 3, position: 104 + 3 * i });
  }
  call(1, 100, { tokens: 1, position: 116 });
  assert.equal(tokens.count, 4 + 5 * 3 + 1);
});

Deno.test("tokens: when they will be enough is known by how fast the last ones came", () => {
  const tokens = new TokenCount(40);
  const decode = (at: number, more: Readonly<Record<string, number>> = {}) => {
    const slice = s.decode("decode", at - 1, at);
    tokens.span({ ...slice, args: { ...slice.args!, ...more } });
  };
  assert.equal(tokens.due, -Infinity);
  decode(10);
  assert.equal(tokens.due, -Infinity);
  decode(12);
  assert.equal(tokens.due, (12 + 38 * 2) * MS);
  for (let at = 22; at <= 82; at += 10) decode(at);
  // Eight calls are looked back at.
  assert.equal(tokens.due, (82 + 31 * 10) * MS);
  decode(92, { tokens: 20 });
  assert.equal(tokens.due, 92 * MS + 11 * 70 * MS / 26);
  assert.equal(new TokenCount(undefined).due, Infinity);
});
