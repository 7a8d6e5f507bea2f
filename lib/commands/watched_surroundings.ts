import type { Fact } from "../events/fact.ts";
import type { Limits } from "../events/surroundings.ts";
import { findGroups, type Groups, readLimits } from "../machine/control_group.ts";
import type { KernelFiles } from "../machine/files.ts";
import { readMemoryUse } from "../machine/memory_use.ts";
import { OneRead } from "../machine/one_read.ts";
import { readGroupPressure, readPressure } from "../machine/pressure.ts";

/** Looks from one search for the target's processes, and for where their memory is, to the next: these go through all of the machine, or of the memory. */
const SEARCH_EVERY = 10;

/**
 * What surrounds the target: what its control groups allow it, what the machine and its group lack, and what memory is used for. Looked at each second,
 * because a group may go with its last process, and a process may be put into another.
 */
export class WatchedSurroundings {
  #pid: number | undefined;
  #groups: Groups | null = null;
  #limits: Limits | null = null;
  #pids: readonly number[] = [];
  #looks = 0;
  readonly #files: OneRead;

  /** `members`: the target's processes; `byNode`: there are several memories, and it matters in which they have theirs. */
  constructor(files: KernelFiles, readonly members: () => Promise<readonly number[]>, readonly byNode: boolean) {
    this.#files = new OneRead(files);
  }

  async conclude(): Promise<Fact[]> {
    const [limits, use] = await this.#read();
    const last = limits ?? this.#limits;
    return [...use, ...last && this.#pid !== undefined ? [{ fact: "limits", pid: this.#pid, limits: last } as const] : []];
  }

  /** The process that is watched now, if there is one. Of limits is told when it is in other groups than before, whose counts began before. */
  async look(pid: number | undefined): Promise<Fact[]> {
    if (pid === undefined) return [];
    const isThorough = this.#looks++ % SEARCH_EVERY === 0 || pid !== this.#pid;
    if (isThorough) this.#pids = await this.members();
    const groups = await findGroups(this.#files, pid);
    const isOther = groups !== null && JSON.stringify(groups) !== JSON.stringify(this.#groups);
    if (groups) this.#groups = groups;
    this.#pid = pid;
    const [limits, use] = await this.#read(isThorough && this.byNode);
    if (limits) this.#limits = limits;
    return [...use, ...limits && isOther ? [{ fact: "limits", pid, limits } as const] : []];
  }

  async #read(byNode = false): Promise<[Limits | null, Fact[]]> {
    const files = this.#files, groups = this.#groups;
    const [limits, pressure, group, memory] = await Promise.all([
      groups && readLimits(files, groups),
      readPressure(files),
      groups?.pressure ? readGroupPressure(files, groups.pressure) : null,
      readMemoryUse(files, this.#pids, byNode),
    ]);
    return [limits, [{ fact: "pressure", pressure, ...group && { group } }, { fact: "memory", memory }]];
  }
}
