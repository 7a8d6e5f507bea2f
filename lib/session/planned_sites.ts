import type { Site } from "../programs/library_sites.ts";
import type { Probe } from "../programs/probe.ts";
import { LibraryAttacher, siteKey, type SiteMap } from "./library_attacher.ts";
import type { LibraryGroup } from "./library_groups.ts";
import type { Means } from "./means.ts";

/** A program as it would be attached to libraries. */
export interface PlannedLibrary {
  readonly stream: string;
  readonly probes: readonly Probe[];
  readonly sites: SiteMap;
}

export interface PlannedSites {
  readonly planned: readonly PlannedLibrary[];
  /** Groups whose library is not there yet. */
  readonly missing: readonly LibraryGroup[];
}

/** What a run would attach to these processes as they are now: its own choices, and nothing is attached. `patient`: see {@link LibraryAttacher.atStart}. */
export async function plannedSites(means: Means, groups: readonly LibraryGroup[], pids: readonly number[], patient: boolean): Promise<PlannedSites> {
  const planned: PlannedLibrary[] = [];
  const start = (stream: string, probes: readonly Probe[], sites: SiteMap) => Promise.resolve(void planned.push({ stream, probes, sites }));
  const attacher = new LibraryAttacher(means, groups, start, () => {});
  const missing = await attacher.atStart(pids, patient);
  return { planned, missing };
}

/** Where the probes that `of` chooses would stand. */
export function sitesOf({ probes, sites }: PlannedLibrary, of: (probe: Probe) => boolean = () => true): Site[] {
  const params = probes.filter(of).flatMap((probe) => Object.values(probe.params ?? {}));
  return params.flatMap((param) => param.type === "site" ? sites.get(siteKey(param)) ?? [] : []);
}
