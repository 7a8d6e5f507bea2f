import assert from "node:assert/strict";
import { FirstToken } from "./first_token.ts";
import { MS, TestSpans } from "../../tests/harness/spans.ts";

const s = new TestSpans();

function feed(...slices: ReturnType<TestSpans["slice"]>[]): FirstToken {
  const first = new FirstToken(s.pid);
  for (const slice of slices) slice.category === "llama.decode" ? first.decode(slice) : first.sample(slice);
  return first;
}

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
  first.decode(s.decode("prefill", 4, 6));
  first.sample(s.sample(5, 7));
  assert.equal(first.certain, false);
});
