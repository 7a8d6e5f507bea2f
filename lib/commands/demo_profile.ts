import type { Analysis } from "../analysis/analysis.ts";
import type { View } from "../events/view.ts";
import type { Probe } from "../programs/probe.ts";
import { coldstartProfile } from "./coldstart.ts";
import type { DemoResult } from "./demo_schema.ts";
import { operatorsProfile } from "./operators.ts";
import type { Profile } from "./profile.ts";

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
};

function union(...lists: readonly (readonly Probe[])[]): Probe[] {
  return [...new Map(lists.flat().map((probe) => [probe.name, probe])).values()];
}

/** Two answers are long enough: the tables of every layer and tensor are left to `operators`. */
function isShort(view: View): boolean {
  return view.type !== "table" || !["Layers", "Tensors"].includes(view.title);
}
