import { ExitCode, LlmprofError } from "../../events/errors.ts";
import type { Capabilities } from "../capabilities.ts";
import type { Surroundings } from "../surroundings.ts";
import { bpftraceNeeds } from "./bpftrace.ts";
import type { Check } from "./check.ts";
import { hardwareNeeds } from "./hardware.ts";
import { kernelNeeds } from "./kernel.ts";
import { privileges } from "./privileges.ts";
import type { Typed } from "./shell.ts";
import { surroundingNeeds } from "./surroundings.ts";

/**
 * Everything that tracing needs, in the order in which a person has to see to it: without rights nothing else can be seen, and without a
 * kernel that allows probes no bpftrace helps.
 *
 * @param typed The command line: its repetition with `sudo` is the commonest fix.
 */
export function checks(machine: Capabilities, typed: Typed, around?: Surroundings): Check[] {
  return [
    ...privileges(machine, typed),
    ...kernelNeeds(machine),
    ...bpftraceNeeds(machine, typed.argv[0]!, around),
    ...around ? surroundingNeeds(machine, around) : [],
    ...hardwareNeeds(machine),
  ];
}

/** Why this machine cannot trace, told before anything is attached; empty when it can. The same list, without what only `doctor` looks at. */
export function preflight(machine: Capabilities, typed: Typed): LlmprofError[] {
  return checks(machine, typed).filter(({ state }) => state === "missing").map(({ need, found, consequence, fix, advice }) =>
    new LlmprofError(ExitCode.machine, `Tracing needs ${need}: ${found}.`, consequence, fix === "" ? advice : `Run: ${fix}`)
  );
}
