import assert from "node:assert/strict";
import { graph } from "../../probes/ggml/graph.ts";
import { ops } from "../../probes/ggml/ops.ts";
import { calls } from "../../probes/llama/calls.ts";
import { life } from "../../probes/process/life.ts";
import { LlmprofError } from "../events/errors.ts";
import { chooseDetail } from "./max_overhead.ts";

const probes = [life, calls, graph, ops];
const predicted = new Map([["op", 0.04], ["graph", 0.002], ["token", 0.0001]] as const);
const names = (limit: number) => chooseDetail(predicted, probes, limit).probes.map(({ name }) => name);

Deno.test("--max-overhead: everything while it fits, then without operators, then without graphs, and it is said", () => {
  assert.deepEqual(names(0.04), probes.map(({ name }) => name));
  assert.equal(chooseDetail(predicted, probes, 0.04).note, null);
  assert.deepEqual(names(0.02), ["process/life", "llama/calls", "ggml/graph"]);
  assert.equal(
    chooseDetail(predicted, probes, 0.02).note,
    "--max-overhead 2.0 %: every operator would cost 4.0 %, so this run sees graphs and tokens, no operators (0.20 % predicted)",
  );
  assert.deepEqual(names(0.001), ["process/life", "llama/calls"]);
});

Deno.test("--max-overhead: where even tokens are too dear it refuses with 4 and says what would do", () => {
  assert.throws(() => names(0.00001), (error) => {
    assert.ok(error instanceof LlmprofError);
    assert.equal(error.exitCode, 4);
    assert.match(error.why, /4\.0 % for every operator, 0\.20 % for graphs and tokens, no operators, 0\.010 % for tokens/);
    assert.equal(error.next, "Allow more: --max-overhead 0.1%");
    return true;
  });
});

Deno.test("--max-overhead: a target that did nothing in the look is not refused", () => {
  const unknown = new Map([["op", null], ["graph", null], ["token", null]] as const);
  for (const nothing of [unknown, null]) assert.deepEqual(chooseDetail(nothing, probes, 0.00001), { probes, note: null });
});
