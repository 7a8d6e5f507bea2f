import assert from "node:assert/strict";
import { graph } from "../../probes/ggml/graph.ts";
import { ops } from "../../probes/ggml/ops.ts";
import { samples } from "../../probes/ggml/samples.ts";
import { sums } from "../../probes/ggml/sums.ts";
import { calls } from "../../probes/llama/calls.ts";
import { life } from "../../probes/process/life.ts";
import { detailsOf, probesOf } from "./detail.ts";

const names = (detail: Parameters<typeof probesOf>[0], probes = [life, calls, graph, ops, sums, samples]) =>
  probesOf(detail, probes).map(({ name }) => name);

Deno.test("detail: operators go first, then their sums, then graphs; a timer comes, and tokens stay", () => {
  assert.deepEqual(names("op"), ["process/life", "llama/calls", "ggml/graph", "ggml/ops"]);
  assert.deepEqual(names("sum"), ["process/life", "llama/calls", "ggml/graph", "ggml/sums"]);
  assert.deepEqual(names("graph"), ["process/life", "llama/calls", "ggml/graph"]);
  assert.deepEqual(names("sample"), ["process/life", "llama/calls", "ggml/samples"]);
  assert.deepEqual(names("token"), ["process/life", "llama/calls"]);
  assert.deepEqual(detailsOf([life, calls, graph, ops, sums, samples], "op"), ["op", "sum", "graph", "sample", "token"]);
  assert.deepEqual(detailsOf([life, calls, graph, ops], "graph"), ["graph", "sample"]);
});

Deno.test("detail: where nothing is hit often there is nothing to leave out", () => {
  assert.deepEqual(detailsOf([life, calls], "op"), ["op"]);
  assert.deepEqual(names("token", [life, calls]), ["process/life", "llama/calls"]);
});
