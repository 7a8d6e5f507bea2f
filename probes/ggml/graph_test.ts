import assert from "node:assert/strict";
import { Decoding } from "../../tests/harness/decoding.ts";
import { graph } from "./graph.ts";

Deno.test("graph: from call to return on the thread that asked, threads apart", () => {
  const d = new Decoding(graph);
  d.event(10, "ggml/graph.graph", { nodes: 184, threads: 2 });
  d.event(11, "ggml/graph.graph", { nodes: 1, threads: 1 }, "100/105");
  d.event(20, "ggml/graph.graph_return", {}, "100/105");
  d.event(30, "ggml/graph.graph_return");
  d.event(31, "ggml/graph.graph_return");
  assert.deepEqual(d.end(40), [
    '100/105 ggml.graph "ggml_graph_compute" 11–20 nodes=1 threads=1',
    '100/100 ggml.graph "ggml_graph_compute" 10–30 nodes=184 threads=2',
  ]);
});

Deno.test("graph: a lost return ends at the next call, the last one at the end of the run, both marked open", () => {
  const d = new Decoding(graph);
  d.event(10, "ggml/graph.graph", { nodes: 1 });
  d.event(20, "ggml/graph.graph", { nodes: 2 });
  assert.deepEqual(d.end(40), [
    '100/100 ggml.graph "ggml_graph_compute" 10–20 (open) nodes=1 threads=0',
    '100/100 ggml.graph "ggml_graph_compute" 20–40 (open) nodes=2 threads=0',
  ]);
});
