import { INODES } from "../../lib/machine/inode.ts";
import { LEAST_INSIDE } from "../../lib/programs/found_libraries.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import template from "./mapping.bt" with { type: "text" };
import { released, StopsDecoder } from "./stops.ts";
import { UNWINDERS } from "./unwind.ts";

/** Files at whose mapping a process is stopped, by how their names begin. */
export interface GateNames {
  readonly prefixes: readonly string[];
  /** Of them, those at which every process is stopped, not only the first that maps the file. */
  readonly each?: readonly string[];
  /** Of them, those that stop nobody who has mapped one of `unless`. */
  readonly otherwise?: readonly string[];
  readonly unless?: readonly string[];
  /** Of them, those whose functions are left by exceptions: who has mapped one is stopped when what unwinds its stack is mapped behind it, too. */
  readonly throwing?: readonly string[];
}

/**
 * Stops a process of the target when it maps a library with such a name; with `execs`, before the first instruction of each program too, and where it maps
 * something large that is no library of a system, because the library may be a part of that.
 */
export function mappingGate({ prefixes, each = [], otherwise = [], unless = [], throwing = [] }: GateNames, execs = false): Probe {
  return {
    name: "gate/mapping",
    summary: `stops the target for a moment when it maps ${prefixes.map((prefix) => `${prefix}*`).join(" or ")}`,
    template,
    params: {
      wanted: { type: "begins", text: "$name", with: prefixes.filter((prefix) => !otherwise.includes(prefix)) },
      otherwise: { type: "begins", text: "$name", with: otherwise },
      unless: { type: "begins", text: "$name", with: unless },
      each: { type: "begins", text: "$name", with: each },
      inodes: { type: "int", value: INODES },
      large: { type: "int", value: LEAST_INSIDE },
      engines: { type: "begins", text: "$name", with: ["libllamamodel", "libllm", "libwhisper", "libstable-diffusion", "librwkv"] },
      libraries: { type: "begins", text: "$name", with: ["lib", "ld-"] },
      // Elsewhere nothing lets exceptions through.
      unwinds: { type: "arch", x86_64: throwing.length > 0 ? "1" : "0", aarch64: "0" },
      throwing: { type: "begins", text: "$name", with: throwing },
      unwinder: { type: "begins", text: "$name", with: UNWINDERS },
      execs: { type: "int", value: execs ? 1 : 0 },
      self: { type: "self" },
    },
    tracepoints: ["syscalls:sys_enter_mmap", "syscalls:sys_enter_kill"],
    unsafe: true,
    records: { stopped: [{ name: "dev", type: "int" }, { name: "inode", type: "int" }, { name: "file", type: "text" }], released },
    decoder: (tracks) => new StopsDecoder(tracks, ({ values }) => `${values[2]} mapped`),
  };
}
