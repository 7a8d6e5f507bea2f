import assert from "node:assert/strict";
import { pairsOf, type Window } from "./windows.ts";

/** Microseconds of a token of the traced engine and of the other one, by when their window began. */
function pairs(...costs: readonly (readonly [mode: string | null, traced: number, other: number])[]) {
  const windows = costs.map(([mode], i): Window => ({ mode, from: BigInt(i), to: BigInt(i + 1) }));
  const microseconds = ({ from }: Pick<Window, "from">) => costs[Number(from)]![1];
  return pairsOf(windows, { microseconds, relative: (stretch) => microseconds(stretch) / costs[Number(stretch.from)]![2] });
}

Deno.test("windows: what slows both engines down is in the traced one's own time, and cancels against the other's", () => {
  const [pair, ...more] = pairs([null, 1000, 2000], ["timeline", 1050, 2100], [null, 1000, 2000]);
  assert.deepEqual([pair, more], [{ mode: "timeline", ratio: 1, alone: 1.05, base: 1 }, []]);
});

Deno.test("windows: each is set against the mean of the two beside it, and one with too few tokens is none", () => {
  const [first, second] = pairs([null, 900, 1000], ["a", 1100, 1000], [null, 1100, 1000], ["b", NaN, 1000], [null, 1100, 1000]);
  assert.deepEqual(first, { mode: "a", ratio: 1.1, alone: 1.1, base: 1 });
  assert.deepEqual(second, { mode: "b", ratio: NaN, alone: NaN, base: 1.1 });
});
