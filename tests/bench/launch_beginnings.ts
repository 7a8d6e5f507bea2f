import type { Probe } from "../../lib/programs/probe.ts";
import { render } from "../../lib/programs/render.ts";
import type { Means } from "../../lib/session/means.ts";
import { dialectOf } from "../../lib/session/programs.ts";
import { calls } from "../../probes/gpu/calls.ts";

/** What llmprof does where a launch begins, and nothing where it ends: all that a call costs which does not return. `attach`: where that is placed. */
export function launchBeginnings({ machine }: Means, pid: number, attach: string): string {
  const probe = beginningOf(calls.cuda, "cuLaunchKernel");
  const plan = { stream: "cuda", probes: [probe], filter: { type: "tree", pids: [pid] }, window: "open" } as const;
  // Nothing is told, so there is no count of that to tell.
  return render(plan, dialectOf(machine), () => [attach]).text.replace(/^interval:.*\n/m, "");
}

/** The block of a probe in which calls of that function begin. */
function beginningOf(probe: Probe, name: string): Probe {
  const [site] = Object.entries(probe.params!).find(([, param]) =>
    param.type === "site" && param.at === "entry" && param.functions.some((is) => typeof is === "function" && is(name))
  )!;
  const template = probe.template.split(/^(?=\{\{)/m).find((block) => block.startsWith(`{{${site}}}`))!;
  return { ...probe, template, atClose: undefined };
}
