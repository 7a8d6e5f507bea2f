import type { Probe } from "../../lib/programs/probe.ts";
import template from "./mapping.bt" with { type: "text" };
import { released, StopsDecoder } from "./stops.ts";

/**
 * Stops a process of the target when it maps a library whose file name begins with one of `prefixes`; with `execs`, before the first instruction of each
 * program too, because the library may be a part of it. `each`: files for which every process is stopped, and not only the first.
 */
export function mappingGate(prefixes: readonly string[], execs = false, each: readonly string[] = []): Probe {
  return {
    name: "gate/mapping",
    summary: `stops the target for a moment when it maps ${prefixes.map((prefix) => `${prefix}*`).join(" or ")}`,
    template,
    params: {
      wanted: { type: "begins", text: "$name", with: prefixes },
      each: { type: "begins", text: "$name", with: each },
      execs: { type: "int", value: execs ? 1 : 0 },
    },
    tracepoints: ["syscalls:sys_enter_mmap", "syscalls:sys_enter_kill"],
    unsafe: true,
    records: { stopped: [{ name: "dev", type: "int" }, { name: "inode", type: "int" }, { name: "file", type: "text" }], released },
    decoder: (tracks) => new StopsDecoder(tracks, ({ values }) => `${values[2]} mapped`),
  };
}
