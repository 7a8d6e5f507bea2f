import type { Capabilities } from "../machine/capabilities.ts";
import type { Header } from "../timeline/header.ts";

/** What of the machine decides whether two runs compare. */
export function hostFacts(machine: Capabilities): Header["host"] {
  const { kernel, cpuModel, cpus, governor, memoryBytes, arch } = machine;
  return { kernel, cpu: cpuModel, cpus, governor, memoryBytes, arch };
}
