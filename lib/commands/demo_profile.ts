import type { View } from "../events/view.ts";
import type { DemoResult } from "./demo_schema.ts";
import type { Profile } from "./profile.ts";
import { recordProfile } from "./record.ts";

const both = recordProfile(["coldstart", "operators"]) as Profile<unknown> as Profile<DemoResult>;

/** Two commands in one run: their probes, their answers, one trace. */
export const demoProfile: Profile<DemoResult> = {
  ...both,
  name: "demo",
  present: (result) => both.present(result).filter(isShort),
};

/** Two answers are long enough: the tables of every layer and tensor are left to `operators`. */
function isShort(view: View): boolean {
  return view.type !== "table" || !["Layers", "Tensors"].includes(view.title);
}
