import type { Probe } from "../programs/probe.ts";
import { callGate } from "../../probes/gate/call.ts";
import { mappingGate } from "../../probes/gate/mapping.ts";

/** Probes by name for the decoders of a run or a replay: the profile's, and the gates, whose parameters the decoders do not need. */
export function probeCatalogue(probes: readonly Probe[]): (name: string) => Probe | undefined {
  const all = new Map(
    [...probes, mappingGate({ prefixes: [] }), callGate({ prefix: "", call: ["llama_init_from_model"] })].map((probe) => [probe.name, probe]),
  );
  return (name) => all.get(name);
}
