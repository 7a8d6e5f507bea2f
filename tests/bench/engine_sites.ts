import { groupByLibrary } from "../../lib/session/library_groups.ts";
import { plannedSites } from "../../lib/session/planned_sites.ts";
import { type ProgramPart, siteKey } from "../../lib/session/program_part.ts";
import type { Site } from "../../lib/programs/library_sites.ts";
import { readMeans } from "../../lib/commands/means.ts";
import { operatorsProfile } from "../../lib/commands/operators.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { probesOf } from "../../lib/programs/detail.ts";

/** Where llmprof would place its probes in an engine. */
export interface EngineSites extends Disposable {
  /** What every operator passes. */
  readonly operator: Site;
  readonly all: readonly Site[];
  /** Of a bpftrace that is to find them. */
  readonly environment: Readonly<Record<string, string>>;
}

export async function engineSites(bpftrace: string, pid: number): Promise<EngineSites> {
  const means = await readMeans(bpftrace);
  const { planned } = await plannedSites(means, groupByLibrary(probesOf("op", operatorsProfile.probes)), [pid], false);
  const all = planned.flatMap((library) => sitesOf(library));
  const [operator] = planned.flatMap((library) => sitesOf(library, ({ hot }) => hot === true));
  if (!operator) throw new Error(`Process ${pid} has no operators to look at.`);
  means.symbols.add(all.flatMap(({ places }) => places));
  return { operator, all, environment: means.symbols.environment, [Symbol.dispose]: () => means.symbols.remove() };
}

/** Where the probes that `of` chooses would stand. */
function sitesOf({ probes, sites }: ProgramPart, of: (probe: Probe) => boolean = () => true): Site[] {
  const params = probes.filter(of).flatMap((probe) => Object.values(probe.params ?? {}));
  return params.flatMap((param) => param.type === "site" ? sites.get(siteKey(param)) ?? [] : []);
}
