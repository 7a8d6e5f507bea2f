import assert from "node:assert/strict";
import { Decoding } from "../../tests/harness/decoding.ts";
import { calls } from "./calls.ts";

/** A decode from `at` to `at + 5`. `logits` as the batch says: none, or whether its first and last tokens want some: the last with all before it, or the first alone. */
function decode(d: Decoding, at: number, tokens: number, logits?: readonly [boolean, boolean], context = 1, who = "100"): void {
  const [first, last] = logits ?? [false, false];
  d.event(at, "llama/calls.decode", {
    context,
    tokens,
    places: -1,
    selects: logits ? 1 : 0,
    wanting: first ? (last ? tokens : 1) : 0,
    last: Number(last),
  }, who);
  d.event(at + 5, "llama/calls.decode_return", { ret: 0 }, who);
}

function phases(d: Decoding): string[] {
  return d.told().filter((line) => line.includes("llama_decode")).map((line) =>
    / tokens=(\d+)(?: generated=\d+)? phase=(\w+)/.exec(line)!.slice(1).join(" ")
  );
}

Deno.test("calls: load, context and decode say how they ended", () => {
  const d = new Decoding(calls);
  d.event(10, "llama/calls.load");
  d.event(20, "llama/calls.load_return", { ok: 1 });
  d.event(21, "llama/calls.context", { cells: 256, batch: 64, ubatch: 32, sequences: 1 });
  d.event(25, "llama/calls.context_return", { context: 0 });
  d.event(30, "llama/calls.decode", { context: 7, tokens: 4, selects: 1, last: 1, places: 9, position: 12 });
  d.event(35, "llama/calls.decode_return", { ret: -1 });
  assert.deepEqual(d.end(40), [
    '100/100 llama.load "llama_model_load_from_file" 10–20 ok=true',
    '100/100 llama.context "llama_init_from_model" 21–25 cells=256 batch=64 ubatch=32 sequences=1 ok=false',
    '100/100 llama.decode "llama_decode" 30–35 tokens=4 runs=0 phase=prefill context=7 position=12 ret=-1',
  ]);
});

Deno.test("calls: a context without cells has those of its model, and one that is laid out in another way says nothing", () => {
  const d = new Decoding(calls);
  const made = (at: number, cells: number, batch: number, ubatch = 512, sequences = 1) => {
    d.event(at, "llama/calls.context", { cells, batch, ubatch, sequences });
    d.event(at + 1, "llama/calls.context_return", { context: 77 });
    return d.told()[0]!.replace(/^.*–\d+ ?/, "");
  };
  assert.equal(made(10, 0, 2048), "batch=2048 ubatch=512 sequences=1 ok=true context=77");
  // A seed before it.
  assert.equal(made(20, 0xffffffff, 4096, 2048, 512), "ok=true context=77");
  assert.equal(made(30, 42, 4096, 2048, 512), "ok=true context=77");
  assert.equal(made(40, 4096, 256, 512), "cells=4096 batch=256 ubatch=512 sequences=1 ok=true context=77");
});

Deno.test("calls: the first call of a context that was made meanwhile generates nothing, however small", () => {
  const d = new Decoding(calls);
  decode(d, 10, 1);
  d.event(20, "llama/calls.context", { cells: 0, batch: 64, ubatch: 64, sequences: 1 });
  d.event(25, "llama/calls.context_return", { context: 1 });
  decode(d, 30, 1);
  decode(d, 40, 12);
  decode(d, 50, 1);
  assert.deepEqual(phases(d), ["1 decode", "1 prefill", "12 prefill", "1 decode"]);
});

Deno.test("calls: what warms a context up is no prompt: the first tokens of a new one, which it then forgets", () => {
  const d = new Decoding(calls);
  const forgets = (at: number) => d.event(at, "llama/calls.forgets", { context: 1 });
  const made = (at: number) => {
    d.event(at, "llama/calls.context", { cells: 0, batch: 64, ubatch: 64, sequences: 1 });
    d.event(at + 1, "llama/calls.context_return", { context: 1 });
  };
  const kinds = () => d.told().flatMap((line) => /llama\.(warmup|decode) .*(\d+)–.*tokens=(\d+) phase=(\w+)/.exec(line)?.slice(1).join(" ") ?? []);
  made(10);
  decode(d, 20, 2);
  assert.deepEqual(kinds(), [], "what it was shows next");
  forgets(26);
  decode(d, 30, 2);
  decode(d, 40, 1);
  forgets(46);
  assert.deepEqual(kinds().map((kind) => kind.replace(/\d+ /, "")), ["warmup 2 prefill", "decode 2 prefill", "decode 1 decode"]);
  made(50);
  decode(d, 60, 2);
  decode(d, 70, 1);
  made(80);
  decode(d, 90, 7);
  forgets(96);
  made(94);
  // On another thread, from the beginning again, and further on.
  const at = (at: number, tokens: number, position: number, who: string) => {
    d.event(
      at,
      "llama/calls.decode",
      { context: 1, tokens, selects: 1, wanting: Number(tokens === 1), last: 1, places: 2 ** 40 + position - tokens + 1, position },
      who,
    );
    d.event(at + 1, "llama/calls.decode_return", { ret: 0 }, who);
  };
  at(97, 2, 1, "100/100");
  at(99, 9, 8, "100/101");
  made(101);
  at(104, 2, 1, "100/100");
  at(106, 1, 2, "100/101");
  made(108);
  decode(d, 110, 1);
  assert.deepEqual(kinds().map((kind) => kind.replace(/\d+ /, "")), [
    "decode 2 prefill",
    "decode 1 decode",
    "decode 7 prefill",
    "warmup 2 prefill",
    "decode 9 prefill",
    "decode 2 prefill",
    "decode 1 decode",
  ]);
  assert.match(d.end(120).at(-1)!, /llama\.decode .* 110–115 tokens=1/);
});

Deno.test("calls: a prompt that is known already but for its last token is none that is generated", () => {
  const d = new Decoding(calls);
  const tell = (at: number, tokens: number, position: number) => {
    const begins = position - tokens + 1;
    const values = { context: 1, tokens, selects: 1, wanting: tokens === 1 ? 1 : 0, last: 1, places: 2 ** 40 + begins, position };
    d.event(at, "llama/calls.decode", values);
    d.event(at + 5, "llama/calls.decode_return", { ret: 0 });
  };
  // Two sequences in turn, each asked the same again. At first another may go on that was not seen before.
  const told: [tokens: number, position: number][] = [[1, 99], [30, 29], [1, 30], [50, 49], [1, 31], [1, 50], [1, 100], [1, 29], [1, 30], [1, 49], [
    1,
    50,
  ]];
  for (const [i, [tokens, position]] of told.entries()) tell(10 * i, tokens, position);
  const decodes = (times: number) => Array<string>(times).fill("1 decode");
  assert.deepEqual(phases(d), [
    ...decodes(1),
    "30 prefill",
    ...decodes(1),
    "50 prefill",
    ...decodes(3),
    "1 prefill",
    ...decodes(1),
    "1 prefill",
    ...decodes(1),
  ]);
});

Deno.test("calls: an encoder's batch", () => {
  const d = new Decoding(calls);
  d.event(10, "llama/calls.encode", { tokens: 9 });
  d.event(15, "llama/calls.encode_return", { ret: 0 });
  assert.deepEqual(d.end(20), ['100/100 llama.encode "llama_encode" 10–15 tokens=9 ret=0']);
});

Deno.test("calls: a prompt in pieces is prefill to its last piece, even where that is one token; then one token a call is decode", () => {
  const d = new Decoding(calls);
  decode(d, 10, 512, [false, false]);
  decode(d, 20, 1, [true, true]);
  decode(d, 30, 1, [true, true]);
  decode(d, 40, 1, [true, true]);
  assert.deepEqual(phases(d), ["512 prefill", "1 prefill", "1 decode", "1 decode"]);
});

Deno.test("calls: a batch that says nothing of logits wants them for its last token", () => {
  const d = new Decoding(calls);
  decode(d, 10, 12);
  decode(d, 20, 1);
  decode(d, 30, 8);
  assert.deepEqual(phases(d), ["12 prefill", "1 decode", "8 prefill"]);
});

Deno.test("calls: tokens of several sequences in one call are decode when all of them want logits", () => {
  const d = new Decoding(calls);
  decode(d, 10, 30, [false, true]);
  decode(d, 20, 4, [true, true]);
  decode(d, 30, 20, [true, false]);
  assert.deepEqual(phases(d), ["30 prefill", "4 decode", "20 prefill"]);
});

Deno.test("calls: sequences that generate beside another's prompt are told apart from it", () => {
  const d = new Decoding(calls);
  d.event(10, "llama/calls.decode", { context: 1, tokens: 31, selects: 1, wanting: 2, last: 1, places: -1 });
  d.event(15, "llama/calls.decode_return", { ret: 0 });
  decode(d, 20, 3, [true, true]);
  assert.deepEqual(d.told(), [
    '100/100 llama.decode "llama_decode" 10–15 tokens=31 generated=2 phase=prefill context=1 ret=0',
    '100/100 llama.decode "llama_decode" 20–25 tokens=3 phase=decode context=1 ret=0',
  ]);
});

Deno.test("calls: of a text to embed every token wants something, and none is generated", () => {
  const d = new Decoding(calls);
  decode(d, 10, 1, [true, true]);
  d.event(20, "llama/calls.decode", { context: 1, tokens: 15, selects: 1, wanting: 15, last: 1, places: 2 ** 40, position: 14 });
  d.event(25, "llama/calls.decode_return", { ret: 0 });
  assert.deepEqual(d.told().slice(1), ['100/100 llama.decode "llama_decode" 20–25 tokens=15 phase=prefill context=1 position=14 ret=0']);
});

Deno.test("calls: of several tokens in a row that want logits all but the first are guesses, unless they are too many; several sequences say how many they are", () => {
  const d = new Decoding(calls);
  const tell = (at: number, tokens: number, runs: number, begins: number, position: number) => {
    d.event(at, "llama/calls.decode", { context: 1, tokens, selects: 1, wanting: tokens, last: 1, places: runs * 2 ** 40 + begins, position });
    d.event(at + 5, "llama/calls.decode_return", { ret: 0 });
    return d.told()[0]!.replace(/^.*–\d+ /, "");
  };
  assert.equal(tell(10, 1, 1, 7, 7), "tokens=1 phase=decode context=1 position=7 ret=0");
  assert.equal(tell(20, 5, 1, 8, 12), "tokens=5 guessed=4 phase=decode context=1 position=12 ret=0");
  assert.equal(tell(30, 5, 2, 30, 21), "tokens=5 guessed=3 runs=2 begins=30 phase=decode context=1 position=21 ret=0");
  assert.equal(tell(40, 3, 3, 40, 9), "tokens=3 runs=3 begins=40 phase=decode context=1 position=9 ret=0");
  // A picture: all its tokens at one place.
  assert.match(tell(50, 256, 0, 300, 300), /^tokens=256 runs=0 phase=\w+ context=1 position=300 ret=0$/);
  assert.equal(tell(50, 512, 1, 512, 1023), "tokens=512 phase=prefill context=1 position=1023 ret=0");
});

Deno.test("calls: a block that is guessed at once is no prompt, though nothing was wanted of what came before it; the last piece of one is", () => {
  const d = new Decoding(calls);
  const tell = (at: number, tokens: number, wanting: number, runs: number, begins: number) => {
    const position = begins + tokens - 1;
    d.event(at, "llama/calls.decode", { context: 1, tokens, selects: 1, wanting, last: wanting && 1, places: runs * 2 ** 40 + begins, position });
    d.event(at + 5, "llama/calls.decode_return", { ret: 0 });
    return / tokens=\S+( guessed=\d+)?.* phase=(\w+)/.exec(d.told()[0]!)!.slice(1).join(" ");
  };
  for (const at of [10, 30]) assert.deepEqual([tell(at, 5, 0, 1, at), tell(at + 10, 8, 8, 1, at + 5)], [" prefill", " guessed=7 decode"]);
  assert.deepEqual([tell(50, 9, 0, 1, 60), tell(60, 1, 1, 1, 69)], [" prefill", " prefill"]);
});

Deno.test("calls: of several sequences beside another's prompt, all but the first token of each are guesses", () => {
  const d = new Decoding(calls);
  const tell = (at: number, tokens: number, wanting: number, runs: number, begins: number, leading = 0) => {
    d.event(at, "llama/calls.decode", {
      context: 1,
      tokens,
      selects: 1,
      wanting: wanting + leading * 2 ** 21,
      last: 0,
      places: runs * 2 ** 40 + begins,
      position: 9,
    });
    d.event(at + 5, "llama/calls.decode_return", { ret: 0 });
    return d.told()[0]!.replace(/^.*–\d+ /, "");
  };
  assert.equal(tell(10, 6 + 23, 6, 3, 70), "tokens=29 generated=2 guessed=4 runs=3 begins=70 phase=prefill context=1 position=9 ret=0");
  assert.equal(tell(20, 2 + 23, 2, 3, 70), "tokens=25 generated=2 runs=3 begins=70 phase=prefill context=1 position=9 ret=0");
  // Two prompts.
  assert.equal(tell(25, 6 + 23, 6, 4, 70, 2), "tokens=29 generated=2 guessed=4 runs=4 begins=70 phase=prefill context=1 position=9 ret=0");
  // The last token of a prompt that was not at its end.
  assert.equal(tell(27, 6 + 1, 7, 3, 70, 3), "tokens=7 generated=2 guessed=4 runs=3 begins=70 phase=prefill context=1 position=9 ret=0");
  // How many they are is not known.
  assert.equal(tell(30, 80 + 23, 80, 0, 70), "tokens=103 generated=80 runs=0 phase=prefill context=1 position=9 ret=0");
});

Deno.test("calls: seen from the middle of a generation, the first single token is decode; contexts and processes do not mix", () => {
  const d = new Decoding(calls);
  decode(d, 10, 1, [true, true]);
  decode(d, 20, 9, [false, false], 2);
  decode(d, 30, 1, [true, true], 2);
  decode(d, 40, 1, [true, true], 2, "200");
  assert.deepEqual(phases(d), ["1 decode", "9 prefill", "1 prefill", "1 decode"]);
});

Deno.test("calls: of samplers inside samplers the outermost counts", () => {
  const d = new Decoding(calls);
  d.event(10, "llama/calls.sample");
  d.event(11, "llama/calls.apply");
  d.event(12, "llama/calls.apply");
  d.event(13, "llama/calls.apply_return");
  d.event(14, "llama/calls.apply_return");
  d.event(15, "llama/calls.sample_return");
  d.event(20, "llama/calls.apply", {}, "100/101");
  d.event(22, "llama/calls.apply_return", {}, "100/101");
  assert.deepEqual(d.end(40), [
    '100/100 llama.sample "llama_sampler_sample" 10–15',
    '100/101 llama.sample "llama_sampler_apply" 20–22',
  ]);
});

Deno.test("calls: a lost return costs its own call and not the ones that follow", () => {
  const d = new Decoding(calls);
  d.event(10, "llama/calls.decode", { tokens: 1 });
  decode(d, 20, 1);
  decode(d, 30, 1);
  assert.deepEqual(d.told().map((line) => line.split(" ").slice(3, 5).join(" ")), ["10–20 (open)", "20–25 tokens=1", "30–35 tokens=1"]);
  d.event(40, "llama/calls.sample");
  d.event(41, "llama/calls.apply");
  d.event(43, "llama/calls.sample_return");
  d.event(50, "llama/calls.sample");
  d.event(55, "llama/calls.sample_return");
  assert.deepEqual(d.end(60).map((line) => line.split(" ").slice(3).join(" ")), ["40–50 (open)", "50–55"]);
});

Deno.test("calls: what is under way at the end is open, and a return whose call came before the window is nothing", () => {
  const d = new Decoding(calls);
  d.event(5, "llama/calls.decode_return", { ret: 0 });
  d.event(10, "llama/calls.load");
  assert.deepEqual(d.end(40), ['100/100 llama.load "llama_model_load_from_file" 10–40 (open)']);
});
