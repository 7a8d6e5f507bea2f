import assert from "node:assert/strict";
import { callGate } from "../../probes/gate/call.ts";
import { graph } from "../../probes/ggml/graph.ts";
import { ops } from "../../probes/ggml/ops.ts";
import { calls } from "../../probes/llama/calls.ts";
import { life } from "../../probes/process/life.ts";
import { groupByLibrary } from "./library_groups.ts";

Deno.test("library groups: probes of a folder are attached together, and the gate rides with the library whose call it waits for", () => {
  const groups = groupByLibrary([life, calls, graph, ops], callGate);
  assert.deepEqual(groups.map(({ stream, probes, gate }) => [stream, probes.map(({ name }) => name), gate?.name]), [
    ["llama", ["llama/calls"], "gate/call"],
    ["ggml", ["ggml/graph", "ggml/ops"], undefined],
  ]);
  const [llama, ggml] = groups;
  assert.deepEqual(ggml!.need.symbols, ["ggml_graph_compute", "ggml_cpu_extra_compute_forward"]);
  assert.ok(llama!.symbols.includes("llama_init_from_model") && llama!.symbols.includes("llama_load_model_from_file"));
});

Deno.test("library groups: without a group of that library the gate makes one of its own", () => {
  const groups = groupByLibrary([ops], callGate);
  assert.deepEqual(groups.map(({ stream, gate, need }) => [stream, gate?.name, need.prefix]), [
    ["ggml", undefined, "libggml-cpu"],
    ["gate-call", "gate/call", "libllama."],
  ]);
  assert.deepEqual(groupByLibrary([life], callGate), []);
});

Deno.test("library groups: two groups that wait for the same call share its gate", () => {
  const other = { ...graph, name: "other/graph" };
  const groups = groupByLibrary([calls, graph, other], callGate);
  assert.equal(groups.filter(({ gate }) => gate).length, 1);
});
