import assert from "node:assert/strict";
import { analyse, MS, TestSpans } from "../../tests/harness/spans.ts";
import type { Slice, Span } from "../events/span.ts";
import { operators } from "./operators.ts";
import { presentOperators } from "./operators_present.ts";
import { type OperatorsResult, operatorsResultSchema } from "./operators_schema.ts";

/** Calls of one context: `position` is that of the last token. */
class Calls {
  constructor(readonly s: TestSpans, readonly context: number) {}

  prompt(at: number, tokens: number): Slice {
    return this.#call("prefill", at, tokens, tokens - 1);
  }

  one(at: number, position: number, phase: "prefill" | "decode" = "decode"): Slice {
    return this.#call(phase, at, 1, position);
  }

  /** A token, and `guessed` behind it. */
  trial(at: number, position: number, guessed: number): Slice {
    return this.#call("decode", at, 1 + guessed, position + guessed, guessed);
  }

  #call(phase: "prefill" | "decode", at: number, tokens: number, position: number, guessed?: number): Slice {
    const slice = this.s.decode(phase, at, at + 2, tokens);
    return { ...slice, args: { ...slice.args!, context: this.context, position, ...guessed !== undefined && { guessed } } };
  }
}

function run(slices: readonly Span[]): OperatorsResult {
  const result = analyse(operators("token"), slices);
  assert.deepEqual(operatorsResultSchema.parse(result), result);
  return result;
}

const figures = ({ contexts }: OperatorsResult) =>
  contexts.map(({ address, guesses, prefill, decode, guessed, kept }) => [address, guesses, prefill, decode, guessed, kept]);

Deno.test("guesses: where the next call begins says how many were right, and the last one's are not known", () => {
  const main = new Calls(new TestSpans(), 10);
  const result = run([
    main.prompt(0, 8),
    main.trial(10, 8, 3),
    main.trial(20, 10, 3),
    main.one(30, 11),
    main.trial(40, 12, 3),
    main.trial(50, 16, 2),
  ]);
  // One of three, none, all three, and nobody knows.
  assert.deepEqual(figures(result), [["0xa", false, 8, 5 + 1 + 0 + 3, 11, 4]]);
  assert.deepEqual([result.tokens.decode, result.tokens.guessed, result.tokens.kept, result.tokens.decodeCalls], [9, 11, 4, 5]);
  assert.equal(result.rates.decodePerSecond, 9 / (5 * 0.002));
  assert.equal(result.rates.generatedPerSecond, 9 / 0.05);
  assert.equal(result.betweenTokens!.count, 5);
  const facts = presentOperators(result).flatMap((view) => view.type === "facts" && view.title === "Tokens" ? view.facts : []);
  assert.deepEqual(facts.find(({ name }) => name.includes("guessed"))!.value, 4);
});

Deno.test("guesses: the context that makes them generates nothing, and its calls are no time between tokens", () => {
  const s = new TestSpans(), main = new Calls(s, 10), draft = new Calls(s, 11);
  const result = run([
    main.prompt(0, 8),
    draft.prompt(3, 8),
    ...[0, 1, 2].flatMap((i) => [draft.one(10 + 10 * i, 8 + 2 * i), draft.one(13 + 10 * i, 9 + 2 * i), main.trial(16 + 10 * i, 8 + 2 * i, 2)]),
    main.one(46, 14),
  ]);
  assert.deepEqual(figures(result), [["0xb", true, 8, 6, 0, 0], ["0xa", false, 8, 4 + 3, 6, 3]]);
  assert.deepEqual([result.tokens.prefill, result.tokens.decode, result.tokens.prefillCalls, result.tokens.decodeCalls], [8, 7, 1, 4]);
  assert.equal(result.rates.generatedPerSecond, 7 / 0.046);
  assert.deepEqual([result.betweenTokens!.count, result.betweenTokens!.maxNs], [4, 16 * MS]);
  assert.equal(result.time.decodeNs, 12 * 2 * MS);
  const table = presentOperators(result).find((view) => view.type === "table" && view.title === "Contexts");
  assert.deepEqual(table?.type === "table" && table.rows, [["0xb (guesses for another)", 8, 6, 0, 0, 7, 14 * MS], ["0xa", 8, 7, 6, 3, 5, 10 * MS]]);
});

Deno.test("guesses: a context that guesses one token, or a block at once, behind what it is given of the other's text", () => {
  const guessing = (guess: (draft: Calls, at: number, position: number) => Slice) => {
    const s = new TestSpans(), main = new Calls(s, 10), draft = new Calls(s, 11);
    const round = (at: number, i: number) => [guess(draft, at, 8 + 2 * i), main.trial(at + 3, 8 + 2 * i, 1), draft.prompt(at + 6, 2)];
    return figures(run([main.prompt(0, 8), draft.prompt(3, 8), ...[10, 20, 30].flatMap(round), main.one(46, 14)]));
  };
  const main = ["0xa", false, 8, 4 + 3, 3, 3];
  // Looks like the last piece of a prompt.
  assert.deepEqual(guessing((draft, at, position) => draft.one(at, position, "prefill")), [["0xb", true, 8 + 3 * 2 + 3, 0, 0, 0], main]);
  assert.deepEqual(guessing((draft, at, position) => draft.trial(at, position, 7)), [["0xb", true, 8 + 3 * 2, 3, 21, 0], main]);
});

Deno.test("guesses: a context that computes beside them makes none, nor does one that embeds texts between them", () => {
  const s = new TestSpans(), main = new Calls(s, 10), beside = new Calls(s.of(100, 101), 11), embeds = new Calls(s, 12);
  const result = run([
    main.prompt(0, 8),
    ...[0, 1, 2].flatMap((i) => [embeds.prompt(5 + 10 * i, 3), main.trial(10 + 10 * i, 8 + 2 * i, 2), beside.one(11 + 10 * i, 8 + i)]),
  ]);
  assert.deepEqual(figures(result).sort(), [["0xa", false, 8, 3 + 2, 6, 2], ["0xb", false, 0, 3, 0, 0], ["0xc", false, 9, 0, 0, 0]]);
  assert.deepEqual([result.tokens.prefill, result.tokens.decode, result.tokens.guessed], [17, 8, 6]);
});

Deno.test("guesses: several sequences go on by the sum of their places, and say nothing when one comes or goes", () => {
  const main = new Calls(new TestSpans(), 10);
  const many = (at: number, tokens: number, runs: number, begins: number) => {
    const slice = main.one(at, 0), guessed = tokens - runs;
    return { ...slice, args: { ...slice.args!, tokens, runs, begins, ...guessed > 0 && { guessed } } };
  };
  // 1 + 2 and 1 + 3 tokens at 100 and 50; one and two are kept, then one sequence goes and nobody knows.
  const result = run([many(0, 7, 2, 150), many(10, 7, 2, 150 + 2 + 3), main.one(20, 104), many(30, 2, 2, 205)]);
  assert.deepEqual(figures(result), [["0xa", false, 0, 2 + 2 + 1 + 2 + 3, 10, 3]]);
});

Deno.test("guesses: a request that begins elsewhere, a call that had not ended and a window that was shut decide nothing about those before", () => {
  const main = new Calls(new TestSpans(), 10);
  const result = run([main.prompt(0, 8), main.trial(10, 8, 3), main.trial(20, 11, 3), main.prompt(30, 4), main.trial(40, 4, 2), main.one(50, 5)]);
  assert.deepEqual(figures(result), [["0xa", false, 12, 4 + 2, 8, 2]]);
  const open = { ...main.trial(20, 11, 3), open: true };
  assert.deepEqual(figures(run([main.prompt(0, 8), main.trial(10, 8, 3), open, main.one(30, 11)])), [["0xa", false, 8, 1 + 2 + 1, 3, 2]]);
  const ended: Span = { type: "mark", at: 20 * MS, kind: "ended", stream: "target", text: "" };
  const turns = run([main.prompt(0, 8), main.trial(10, 8, 3), ended, main.trial(30, 9, 3), main.one(40, 11)]);
  assert.deepEqual(figures(turns), [["0xa", false, 8, 3 + 1, 6, 1]]);
  // Of the second turn the first call follows nothing, and what is kept of it is in no time between tokens.
  assert.equal(turns.rates.generatedPerSecond, (1 + 1) / 0.020);
});

Deno.test("guesses: a context that is made anew where one was that guessed generates again", () => {
  const s = new TestSpans(), main = new Calls(s, 10), draft = new Calls(s, 11);
  const round = (at: number, place: number) => [draft.one(at, place), main.trial(at + 3, place, 2)];
  const made = (at: number) => s.slice("llama.context", at, at + 1, { ok: true, context: 11 });
  const result = run([main.prompt(0, 8), ...round(10, 8), ...round(20, 10), made(30), draft.prompt(40, 5), draft.one(50, 5), draft.one(60, 6)]);
  assert.deepEqual(figures(result), [["0xa", false, 8, 2 + 1, 4, 1], ["0xb", false, 5, 2, 0, 0], ["0xb", true, 0, 2, 0, 0]]);
});

Deno.test("guesses: of two sequences beside another's prompt, the next call says how many were right, also where the prompt's sequence generates by then", () => {
  const s = new TestSpans();
  const call = (phase: "prefill" | "decode", at: number, tokens: number, args: Record<string, number>) => {
    const slice = s.decode(phase, at, at + 2, tokens);
    return { ...slice, args: { ...slice.args!, context: 10, ...args } };
  };
  const result = run([
    call("prefill", 0, 2 * 3 + 23, { generated: 2, guessed: 4, runs: 3, begins: 10 + 20 + 0, position: 22 }),
    // Two of the first one's were right, none of the other's.
    call("prefill", 10, 2 * 3 + 23, { generated: 2, guessed: 4, runs: 3, begins: 13 + 21 + 23, position: 45 }),
    // One of each.
    call("decode", 20, 3, { runs: 3, begins: 15 + 23 + 46, position: 46 }),
    // Another sequence has come.
    call("decode", 30, 8, { guessed: 4, runs: 4, begins: 16 + 24 + 47 + 0, position: 1 }),
    call("decode", 40, 3, { runs: 3, begins: 90, position: 1 }),
  ]);
  assert.deepEqual(figures(result), [["0xa", false, 46, 2 + 2 + 2 + 2 + 3 + 4 + 3, 12, 4]]);
  assert.equal(result.tokens.besidePrompts, 2 + 2 + 2 + 2);
});
