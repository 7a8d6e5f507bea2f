import type { Capabilities } from "../capabilities.ts";
import { type Check, ok, warning } from "./check.ts";
import { asRoot } from "./shell.ts";

/** What is measured on: worse hardware gives worse figures, and never a failure. */
export function hardwareNeeds({ root, cpus, cpuModel, memoryBytes, governor, counters }: Capabilities): Check[] {
  const steady = "steady clock frequency";
  return [
    governor === null || governor === "performance" ? ok(steady, governor ?? "not adjustable") : warning(steady, governor, {
      consequence: "Times of two runs differ with the frequency.",
      fix: `echo performance | ${asRoot(root, "tee")} /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor`,
    }),
    counters.size > 0 ? ok("hardware counters", [...counters].join(", ")) : warning("hardware counters", "no PMU", {
      consequence: "Cache misses and cycles cannot be counted. Most virtual machines have none, and nothing else is lost.",
      advice: "Run it on the machine itself, or have the guest given its counters (KVM: -cpu host,pmu=on).",
    }),
    ok("processors and memory", `${cpus} × ${cpuModel}, ${(memoryBytes / 2 ** 30).toFixed(1)} GiB`),
  ];
}
