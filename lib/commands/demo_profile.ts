import type * as z from "zod";
import type { Analysis } from "../analysis/analysis.ts";
import type { ColdstartResult } from "../analysis/coldstart_schema.ts";
import type { OperatorsResult } from "../analysis/operators_schema.ts";
import type { View } from "../events/view.ts";
import type { Probe } from "../programs/probe.ts";
import { coldstartProfile } from "./coldstart.ts";
import { operatorsProfile } from "./operators.ts";
import type { Profile } from "./profile.ts";

/** What both commands find in one run. */
export interface DemoResult {
  readonly coldstart: ColdstartResult;
  readonly operators: OperatorsResult;
}

/** Both commands in one run: their probes, their answers, one trace. */
export const demoProfile: Profile<DemoResult> = {
  name: "demo",
  probes: union(coldstartProfile.probes, operatorsProfile.probes),
  waits: false,
  requires: operatorsProfile.requires,
  analyse(header): Analysis<DemoResult> {
    const [coldstart, operators] = [coldstartProfile.analyse(header), operatorsProfile.analyse(header)];
    return {
      span(span) {
        coldstart.span(span);
        operators.span(span);
      },
      result: () => ({ coldstart: coldstart.result(), operators: operators.result() }),
    };
  },
  present: ({ coldstart, operators }) => [...coldstartProfile.present(coldstart), ...operatorsProfile.present(operators)].filter(isShort),
  annotate: ({ coldstart }, tracks) => coldstartProfile.annotate!(coldstart, tracks),
  schema: async () =>
    (await import("zod")).object({ coldstart: await coldstartProfile.schema(), operators: await operatorsProfile.schema() }) as z.ZodType<DemoResult>,
};

function union(...lists: readonly (readonly Probe[])[]): Probe[] {
  return [...new Map(lists.flat().map((probe) => [probe.name, probe])).values()];
}

/** Two answers are long enough: the tables of every layer and tensor are left to `operators`. */
function isShort(view: View): boolean {
  return view.type !== "table" || !["Layers", "Tensors"].includes(view.title);
}
