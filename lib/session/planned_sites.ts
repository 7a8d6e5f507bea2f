import { LibraryAttacher } from "./library_attacher.ts";
import type { LibraryGroup } from "./library_groups.ts";
import type { ProgramPart } from "./program_part.ts";
import type { Means } from "./means.ts";

export interface PlannedSites {
  readonly planned: readonly ProgramPart[];
  /** Groups whose library is not there yet. */
  readonly missing: readonly LibraryGroup[];
}

/** What a run would attach to these processes as they are now: its own choices, and nothing is attached. `patient`: see {@link LibraryAttacher.present}. */
export async function plannedSites(means: Means, groups: readonly LibraryGroup[], pids: readonly number[], patient: boolean): Promise<PlannedSites> {
  const planned: ProgramPart[] = [];
  const attacher = new LibraryAttacher(means, groups, (parts) => Promise.resolve(void planned.push(...parts)), () => {}, () => Promise.resolve());
  const present = await attacher.present(pids, patient);
  await attacher.attach(present);
  return { planned, missing: present.missing };
}
