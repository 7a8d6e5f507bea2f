import { operators } from "../analysis/operators.ts";
import { presentOperators } from "../analysis/operators_present.ts";
import type { OperatorsResult } from "../analysis/operators_schema.ts";
import { graph } from "../../probes/ggml/graph.ts";
import { ops } from "../../probes/ggml/ops.ts";
import { calls } from "../../probes/llama/calls.ts";
import { life } from "../../probes/process/life.ts";
import type { Profile } from "./profile.ts";

/** Which operators take the time of a token. */
export const operatorsProfile: Profile<OperatorsResult> = {
  name: "operators",
  probes: [life, calls, graph, ops],
  waits: false,
  requires: { stream: "ggml", what: "A computation on ggml's CPU backend (libggml-cpu*.so)" },
  analyse: () => operators(),
  present: presentOperators,
  schema: async () => (await import("../analysis/operators_schema.ts")).operatorsResultSchema,
};
