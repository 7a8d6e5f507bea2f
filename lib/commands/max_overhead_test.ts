import assert from "node:assert/strict";
import { LlmprofError } from "../events/errors.ts";
import { details } from "../programs/detail.ts";
import { chooseDetail, nextStep } from "./max_overhead.ts";

const predicted = new Map([["wait", 0.09], ["op", 0.04], ["sum", 0.04], ["graph", 0.002], ["sample", 0.0015], ["token", 0.0001]] as const);
const choose = (limit: number) => chooseDetail(predicted, details, limit);
/** Of these details, and of those below them that cost less than a graph's. */
const prices = (...dear: readonly string[]) =>
  `Predicted: ${
    [
      ...dear,
      "0.20 % for graphs and tokens, no operators",
      "0.15 % for tokens and a timer's samples, no graphs and operators",
      "0.010 % for tokens, no graphs and operators",
    ].join(", ")
  }`;
const [OP, SUM] = ["4.0 % for every operator", "4.0 % for sums of every operator"];
const ALL = prices("9.0 % for every operator and every wait at a barrier", OP, SUM);

Deno.test("--max-overhead: everything while it fits, then without operators, then with a timer, and without, and it is said, with what each costs", () => {
  assert.deepEqual(choose(0.09), { detail: "wait", notes: [ALL] });
  assert.equal(choose(0.04).detail, "op");
  assert.deepEqual(chooseDetail(predicted, details.slice(1), 0.04), { detail: "op", notes: [prices(OP, SUM)] });
  const note = "--max-overhead 2.0 %: sums of every operator would cost 4.0 %, so this run sees graphs and tokens, no operators (0.20 % predicted)";
  assert.deepEqual(choose(0.02), { detail: "graph", notes: [ALL, note] });
  assert.equal(choose(0.0016).detail, "sample");
  assert.equal(choose(0.001).detail, "token");
});

Deno.test("--max-overhead: what was not asked for is not seen where it would fit, and no note misses it", () => {
  const two = "Predicted: 0.20 % for graphs and tokens, no operators, 0.010 % for tokens, no graphs and operators";
  assert.deepEqual(chooseDetail(predicted, ["graph", "token"], 0.04), { detail: "graph", notes: [two] });
  assert.deepEqual(chooseDetail(predicted, ["token"], 0.04), { detail: "token", notes: ["Predicted: 0.010 %"] });
});

Deno.test("--max-overhead: where even tokens are too dear it refuses with 4 and says what would do", () => {
  assert.throws(() => choose(0.00001), (error) => {
    assert.ok(error instanceof LlmprofError);
    assert.equal(error.exitCode, 4);
    assert.equal(error.why, `${ALL}.`);
    assert.equal(error.next, "Allow more: --max-overhead 0.1%");
    return true;
  });
});

Deno.test("--max-overhead: a target that did nothing in the look is not refused, and it is said that nothing is known", () => {
  const unknown = new Map([["wait", null], ["op", null], ["sum", null], ["graph", null], ["sample", null], ["token", null]] as const);
  for (
    const [nothing, why] of [[unknown, "did nothing in the second for which it was looked at"], [
      null,
      "had not mapped yet what is looked at",
    ]] as const
  ) {
    const note = `--max-overhead 2.0 % could not be checked before attaching: the target ${why}`;
    assert.deepEqual(chooseDetail(nothing, details, 0.02), { detail: "wait", notes: [note] });
  }
});

Deno.test("--max-overhead: where it was too much the next step is less detail, as long as there is less", () => {
  assert.equal(nextStep("op", ["op", "sum", "graph", "token"], 0.0512), "See less: --detail graph");
  assert.equal(nextStep("token", ["op", "graph", "token"], 0.0512), "Allow more: --max-overhead 5.2%");
});
