import { operators } from "../analysis/operators.ts";
import { presentOperators } from "../analysis/operators_present.ts";
import type { OperatorsResult } from "../analysis/operators_schema.ts";
import { SliceBounds } from "../analysis/slice_bounds.ts";
import { backends } from "../../probes/ggml/backends.ts";
import { barrier } from "../../probes/ggml/barrier.ts";
import { counters } from "../../probes/ggml/counters.ts";
import { graph } from "../../probes/ggml/graph.ts";
import { ops } from "../../probes/ggml/ops.ts";
import { samples } from "../../probes/ggml/samples.ts";
import { sums } from "../../probes/ggml/sums.ts";
import { between } from "../../probes/llama/between.ts";
import { calls } from "../../probes/llama/calls.ts";
import { life } from "../../probes/process/life.ts";
import { syscalls } from "../../probes/process/syscalls.ts";
import { parseCeilings } from "../machine/ceilings/ceilings.ts";
import { asDetail } from "../programs/detail.ts";
import type { Profile } from "./profile.ts";

/** Which operators take the time of a token. */
export const operatorsProfile: Profile<OperatorsResult> = {
  name: "operators",
  probes: [life, calls, between, graph, backends, ops, barrier, sums, samples, counters(1_000_000), syscalls],
  waits: false,
  requires: [
    { probe: graph, what: "A computation on ggml's CPU backend (libggml-cpu*.so)" },
    { probe: samples, what: "ggml's CPU backend (libggml-cpu*.so)" },
    { probe: calls, what: "llama.cpp (libllama.so)" },
  ],
  analyse: ({ options, ceilings }) => operators(asDetail(options.detail), parseCeilings(ceilings) ?? [], options.slowerThan !== undefined),
  told({ ceilings }) {
    const known = parseCeilings(ceilings);
    return known ? new SliceBounds(known).of : (span) => span;
  },
  present: presentOperators,
};
