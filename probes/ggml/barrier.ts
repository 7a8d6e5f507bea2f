import type { Probe } from "../../lib/programs/probe.ts";
import { silent } from "../../lib/programs/silent.ts";
import template from "./barrier.bt" with { type: "text" };
import { cpuBackend } from "./library.ts";

/** Each time a worker comes to a barrier; ops.ts makes waits of it. In one program with that, whose maps it looks at. */
export const barrier: Probe = {
  name: "ggml/barrier",
  summary: "ggml: when each worker has done its part of an operator",
  template,
  params: { barrier: { type: "site", at: "entry", functions: [["ggml_barrier"]] } },
  library: { ...cpuBackend, symbols: ["ggml_barrier", "ggml_graph_compute"] },
  hot: true,
  // Behind each, and once inside of products.
  perOperator: { site: "barrier", hits: 1.5 },
  details: ["wait"],
  records: { barrier: [] },
  decoder: silent,
};
