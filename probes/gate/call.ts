import type { Probe, ReadyCall } from "../../lib/programs/probe.ts";
import template from "./call.bt" with { type: "text" };
import { released, StopsDecoder } from "./stops.ts";

/** Stops each process of the target at its first call of a function of a library whose file name begins with `prefix`. */
export function callGate({ prefix, call }: ReadyCall): Probe {
  return {
    name: "gate/call",
    summary: `stops the target for a moment at its first ${call[0]}`,
    template,
    params: { call: { type: "site", at: "entry", functions: [call] }, self: { type: "self" } },
    library: { prefix, symbols: [call], ready: "mapped" },
    tracepoints: ["syscalls:sys_enter_mmap", "syscalls:sys_enter_kill"],
    unsafe: true,
    records: { stopped: [], released },
    decoder: (tracks) => new StopsDecoder(tracks, () => `${call[0]} called`),
  };
}
