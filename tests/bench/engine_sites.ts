import { groupByLibrary } from "../../lib/session/library_groups.ts";
import { LibraryAttacher, siteKey } from "../../lib/session/library_attacher.ts";
import type { Site } from "../../lib/programs/library_sites.ts";
import { readMeans } from "../../lib/commands/means.ts";
import { operatorsProfile } from "../../lib/commands/operators.ts";
import { callGate } from "../../probes/gate/call.ts";

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
  const all: Site[] = [];
  let operator: Site | undefined;
  const attacher = new LibraryAttacher(means, groupByLibrary(operatorsProfile.probes, callGate), (_stream, probes, sites) => {
    for (const { hot, params = {} } of probes) {
      const own = Object.values(params).flatMap((param) => param.type === "site" ? sites.get(siteKey(param)) ?? [] : []);
      all.push(...own);
      if (hot) operator = own[0];
    }
    return Promise.resolve();
  }, () => {});
  await attacher.atStart([pid], false);
  if (!operator) throw new Error(`Process ${pid} has no operators to look at.`);
  means.symbols.add(all.flatMap(({ place }) => place ?? []));
  return { operator, all, environment: means.symbols.environment, [Symbol.dispose]: () => means.symbols.remove() };
}
