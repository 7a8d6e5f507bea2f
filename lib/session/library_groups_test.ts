import assert from "node:assert/strict";
import { mappingGate } from "../../probes/gate/mapping.ts";
import { graph } from "../../probes/ggml/graph.ts";
import { ops } from "../../probes/ggml/ops.ts";
import { calls } from "../../probes/llama/calls.ts";
import { life } from "../../probes/process/life.ts";
import { gateFor, groupByLibrary, stillAwaited } from "./library_groups.ts";

Deno.test("library groups: probes of a folder are attached together, and the gate rides with the library whose call it waits for", () => {
  const groups = groupByLibrary([life, calls, graph, ops]);
  assert.deepEqual(groups.map(({ stream, probes, gate }) => [stream, probes.map(({ name }) => name), gate?.name]), [
    ["llama", ["llama/calls"], "gate/call"],
    ["ggml", ["ggml/graph", "ggml/ops"], undefined],
    ["gate-otherwise", [], "gate/call"],
  ]);
  const [llama, ggml] = groups;
  assert.deepEqual(ggml!.need.symbols, ["ggml_graph_compute", [
    "ggml_cpu_extra_compute_forward",
    "ggml_compute_forward",
    "ggml_compute_forward.lto_priv.0",
  ]]);
  assert.deepEqual(ggml!.need.least, ["ggml_graph_compute"]);
  assert.ok(llama!.symbols.includes("llama_init_from_model") && llama!.symbols.includes("llama_load_model_from_file"));
});

Deno.test("library groups: without a group of that library the gate makes one of its own", () => {
  const groups = groupByLibrary([ops]);
  assert.deepEqual(groups.map(({ stream, gate, need }) => [stream, gate?.name, need.prefix]), [
    ["ggml", undefined, "libggml-cpu"],
    ["gate-otherwise", "gate/call", "libggml-base"],
    ["gate-call", "gate/call", "libllama."],
  ]);
  assert.deepEqual(groupByLibrary([life]), []);
});

Deno.test("library groups: two groups that wait for the same call share its gate", () => {
  const other = { ...graph, name: "other/graph" };
  const groups = groupByLibrary([calls, graph, other]);
  assert.deepEqual(groups.filter(({ gate }) => gate).map(({ stream }) => stream), ["llama", "gate-otherwise"]);
});

Deno.test("library groups: of those of which each process is looked at, a running target is awaited whatever it has mapped, and has a gate of their names", () => {
  const each = { ...life, name: "gpu/calls", library: { prefix: "libgpu.", symbols: ["f"], ready: "mapped", each: true } } as const;
  const groups = groupByLibrary([calls, each]);
  const awaited = (missing: typeof groups) => stillAwaited(groups, missing).map(({ need }) => need.prefix);
  assert.deepEqual([awaited([]), awaited(groups), stillAwaited(groupByLibrary([calls]), [])], [["libgpu."], ["libllama.", "libgpu."], []]);
  const names = { prefixes: ["libllama.", "libgpu."], each: ["libgpu."], otherwise: [], unless: [] };
  assert.deepEqual(gateFor(groups, true)!.params, mappingGate(names, true).params);
  const throwing = { ...each, library: { ...each.library, throws: true } } as const;
  assert.deepEqual(gateFor(groupByLibrary([calls, throwing]), true)!.params, mappingGate({ ...names, throwing: ["libgpu."] }, true).params);
  assert.equal(gateFor([], true), null);
});
