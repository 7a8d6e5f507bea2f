import type { Site } from "../programs/library_sites.ts";
import type { Probe } from "../programs/probe.ts";
import { LibraryAttacher, type LibraryPart, siteKey } from "./library_attacher.ts";
import type { LibraryGroup } from "./library_groups.ts";
import type { Means } from "./means.ts";

export interface PlannedSites {
  readonly planned: readonly LibraryPart[];
  /** Groups whose library is not there yet. */
  readonly missing: readonly LibraryGroup[];
}

/** What a run would attach to these processes as they are now: its own choices, and nothing is attached. `patient`: see {@link LibraryAttacher.present}. */
export async function plannedSites(means: Means, groups: readonly LibraryGroup[], pids: readonly number[], patient: boolean): Promise<PlannedSites> {
  const planned: LibraryPart[] = [];
  const attacher = new LibraryAttacher(means, groups, (parts) => Promise.resolve(void planned.push(...parts)), () => {});
  const present = await attacher.present(pids, patient);
  await attacher.attach(present);
  return { planned, missing: present.missing };
}

/** Where the probes that `of` chooses would stand. */
export function sitesOf({ probes, sites }: LibraryPart, of: (probe: Probe) => boolean = () => true): Site[] {
  const params = probes.filter(of).flatMap((probe) => Object.values(probe.params ?? {}));
  return params.flatMap((param) => param.type === "site" ? sites.get(siteKey(param)) ?? [] : []);
}
