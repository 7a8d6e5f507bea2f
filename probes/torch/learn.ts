import type { Probe } from "../../lib/programs/probe.ts";
import { silent } from "../../lib/programs/silent.ts";
import { caller } from "../process/registers.ts";
import template from "./learn.bt" with { type: "text" };
import { DISPATCHED, libtorch } from "./library.ts";

/** Which operators a process runs, so that only these are probed. */
export const learn: Probe = {
  name: "torch/learn",
  summary: "PyTorch: which operators are dispatched",
  template,
  params: {
    dispatched: { type: "site", at: "entry", functions: [[DISPATCHED]] },
    caller,
  },
  library: libtorch,
  hot: true,
  records: { caller: [{ name: "caller", type: "int", unit: "address" }] },
  // Who learns hears the record itself; of operators that are timed the trace tells more.
  decoder: silent,
};
