import type { Fact } from "../events/fact.ts";
import type { Limits } from "../events/span.ts";
import { findGroups, type Groups, readLimits } from "../machine/control_group.ts";
import type { Means } from "../session/means.ts";

/**
 * What control groups allow the target, at the beginning of a run and at its end. Looked at each second, because a group may go with its last process, and a
 * process may be put into another.
 */
export class WatchedLimits {
  #pid: number | undefined;
  #groups: Groups | null = null;
  #last: Limits | null = null;

  constructor(readonly means: Means) {}

  async conclude(): Promise<Fact[]> {
    const limits = this.#groups && (await readLimits(this.means.files, this.#groups) ?? this.#last);
    return limits && this.#pid !== undefined ? [{ fact: "limits", pid: this.#pid, limits }] : [];
  }

  /** The process that is watched now, if there is one. Returns what has to be told: that it is in other groups than before, whose counts began before. */
  async look(pid: number | undefined): Promise<Fact | null> {
    if (pid === undefined) return null;
    const { files } = this.means;
    const groups = await findGroups(files, pid);
    const isOther = groups !== null && JSON.stringify(groups) !== JSON.stringify(this.#groups);
    if (groups) this.#groups = groups;
    const limits = this.#groups && await readLimits(files, this.#groups);
    if (!limits) return null;
    this.#last = limits;
    this.#pid = pid;
    return isOther ? { fact: "limits", pid, limits } : null;
  }
}
