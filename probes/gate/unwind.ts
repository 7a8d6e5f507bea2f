import type { Probe } from "../../lib/programs/probe.ts";
import { silent } from "../../lib/programs/silent.ts";
import { released } from "./stops.ts";
import template from "./unwind.bt" with { type: "text" };

/** Names of files in which unwinding may begin: where one of the second kind was loaded before GCC's, the C++ runtime asks that. */
export const UNWINDERS = ["libgcc_s.so", "libunwind"] as const;

/** Stops whoever throws an exception through functions at whose return probes stand, and says which return addresses the kernel has hidden. */
export const unwind: Probe = {
  name: "gate/unwind",
  summary: "stops a process for a moment that throws an exception through what is watched, so that the exception gets through",
  template,
  params: { raise: { type: "site", at: "entry", functions: [["_Unwind_RaiseException"], ["_Unwind_ForcedUnwind"]] } },
  library: { prefix: UNWINDERS[0], symbols: ["_Unwind_RaiseException"], ready: "mapped", apart: true },
  tracepoints: ["syscalls:sys_enter_kill"],
  unsafe: true,
  records: {
    hidden: [{ name: "place", type: "int", unit: "address on the stack" }, { name: "address", type: "int", unit: "that was there" }],
    stopped: [],
    released,
    asked: released,
  },
  decoder: silent,
};
