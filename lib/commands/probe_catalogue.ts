import type { Probe } from "../programs/probe.ts";
import { callGate } from "../../probes/gate/call.ts";
import { mappingGate } from "../../probes/gate/mapping.ts";

/** Of any library: what a gate sees and needs does not depend on its parameters. */
export const anyGates: readonly Probe[] = [mappingGate({ prefixes: [] }), callGate({ prefix: "", call: ["llama_init_from_model"] })];

/** Probes by name for the decoders of a run or a replay: the profile's, and the gates. */
export function probeCatalogue(probes: readonly Probe[]): (name: string) => Probe | undefined {
  const all = new Map([...probes, ...anyGates].map((probe) => [probe.name, probe]));
  return (name) => all.get(name);
}
