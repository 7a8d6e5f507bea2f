import type { Fact } from "../events/fact.ts";
import type { Limits } from "../events/surroundings.ts";
import { findGroups, type Groups, readLimits } from "../machine/control_group.ts";
import type { KernelFiles } from "../machine/files.ts";
import { readMemoryUse } from "../machine/memory_use.ts";
import { OneRead } from "../machine/one_read.ts";
import { readGroupPressure, readPressure } from "../machine/pressure.ts";
import { readStolenTime } from "../machine/stolen_time.ts";
import { readAffinity } from "../target/affinity.ts";

/**
 * Looks at which the target's processes are searched for, and where their memory is, which goes through all of the machine, or of the memory: often at first,
 * when a program starts others and reads its model.
 */
const FIRST_SEARCHES: ReadonlySet<number> = new Set([0, 1, 2, 4, 7]), SEARCH_EVERY = 10;

/**
 * In which nodes memory is, the kernel finds out page by page, while the process can map none and may have to wait when it touches some: so many times as
 * long as a look took it is left alone.
 */
const NODES_REST = 100;

/** Processes beyond these are not asked on which processors their threads may run: that is two children for each. */
const MOST_PROCESSES = 32;

/** Of groups that limit nothing. */
const NONE: Limits = { cpus: null, throttled: 0, throttledNs: 0, memoryLimit: null, memoryBytes: null, killed: 0, reads: [] };

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
  /** Milliseconds: when it may be looked again in which nodes memory is, and how long the longest such look took. */
  #nodesAgain = -Infinity;
  #longest = 0;
  #moves = 0;
  /** Limits as they were told last. */
  #news = "";
  /** By process: on which processors it may run, as that was told last. */
  readonly #affinities = new Map<number, string>();
  readonly #files: OneRead;

  /**
   * `members`: the target's processes; `byNode`: there are several memories, and it matters in which they have theirs; `affinity`: and it does, on which
   * processors they may run. `pageBytes`: of a page of this machine; `everybody`: all that runs is watched. `now`: milliseconds.
   */
  constructor(
    readonly files: KernelFiles,
    readonly members: () => Promise<readonly number[]>,
    readonly asked: { readonly byNode: boolean; readonly affinity: boolean; readonly pageBytes: number; readonly everybody?: boolean },
    readonly now: () => number,
  ) {
    this.#files = new OneRead(files);
  }

  async conclude(): Promise<Fact[]> {
    const members = await this.members();
    if (members.length > 0) this.#pids = members;
    const [limits, use] = await this.#read(true);
    const last = limits ?? this.#limits;
    return [...use, ...this.#seldom(), ...last && this.#pid !== undefined ? [this.#told(this.#pid, last)] : []];
  }

  /**
   * The process that is watched now, if there is one. Of limits is told where that is asked for, where they changed, and when it is in other groups than
   * before, whose counts began before.
   */
  async look(pid: number | undefined, tells = false): Promise<Fact[]> {
    if (pid === undefined) return [];
    const look = this.#looks++, isThorough = FIRST_SEARCHES.has(look) || look % SEARCH_EVERY === 0 || pid !== this.#pid;
    if (isThorough) this.#pids = await this.members();
    const groups = await findGroups(this.#files, pid);
    const hadGroups = this.#groups !== null, isElsewhere = groups !== null && JSON.stringify(groups) !== JSON.stringify(this.#groups);
    if (groups) this.#groups = groups;
    const [limits, use] = await this.#read(isThorough);
    const isOther = isElsewhere || isMadeAnew(this.#limits, limits);
    // What came of those before, until they were looked at last.
    const before = isOther && this.#limits ? [this.#told(this.#pid!, this.#limits)] : [];
    if (isOther && hadGroups) this.#moves++;
    this.#pid = pid;
    this.#limits = limits ?? (isOther && this.#limits ? NONE : this.#limits);
    const isTold = this.#limits && (tells || isOther || newsOf(this.#limits) !== this.#news);
    return [...before, ...use.map((fact) => this.#moved(fact)), ...isTold ? [this.#told(pid, this.#limits!)] : []];
  }

  /** As of the groups in which the target is found to be by now. */
  #moved(fact: Fact): Fact {
    return fact.fact === "pressure" && fact.group ? { ...fact, moves: this.#moves } : fact;
  }

  #told(pid: number, limits: Limits): Fact {
    this.#news = newsOf(limits);
    return { fact: "limits", pid, limits, moves: this.#moves };
  }

  /** Where looks at nodes had to be further apart than they usually are. */
  #seldom(): Fact[] {
    const seconds = this.#longest / 1000, apart = NODES_REST * seconds;
    if (apart <= SEARCH_EVERY) return [];
    const text = `in which nodes memory is was looked at no more often than every ${Math.round(apart)} s, and is as it was then: a look took ${
      seconds.toFixed(1)
    } s, in which the target `;
    return [{ fact: "note", text: `${text}may have to wait when it maps or touches memory` }];
  }

  async #read(isThorough: boolean): Promise<[Limits | null, Fact[]]> {
    const files = this.#files, groups = this.#groups, began = this.now();
    const byNode = this.asked.byNode && isThorough && began >= this.#nodesAgain;
    const [limits, pressure, stolen, group, memory, affinities] = await Promise.all([
      groups && readLimits(files, groups, this.asked.pageBytes, this.asked.everybody),
      readPressure(files),
      readStolenTime(files),
      groups?.pressure ? readGroupPressure(files, groups.pressure) : null,
      readMemoryUse(files, this.#pids, byNode),
      this.asked.affinity && isThorough ? this.#readAffinities() : [],
    ]);
    if (byNode) {
      const ended = this.now(), took = ended - began;
      this.#nodesAgain = ended + NODES_REST * took;
      this.#longest = Math.max(this.#longest, took);
    }
    const told = { fact: "pressure", pressure, ...stolen && { stolen }, ...group && { group, moves: this.#moves } } as const;
    return [limits, [told, { fact: "memory", memory }, ...affinities]];
  }

  /** As far as they have changed. */
  async #readAffinities(): Promise<Fact[]> {
    const found = await Promise.all(this.#pids.slice(0, MOST_PROCESSES).map((pid) => readAffinity(this.files, pid)));
    return found.flatMap((affinity) => {
      const text = JSON.stringify(affinity);
      if (!affinity || this.#affinities.get(affinity.pid) === text) return [];
      this.#affinities.set(affinity.pid, text);
      return [{ fact: "affinity", ...affinity }];
    });
  }
}

/** Of what is used is told at the end, and where anything else has changed. */
function newsOf({ memoryBytes: _, ...limits }: Limits): string {
  return JSON.stringify(limits);
}

/** Counts grow as long as a group is there: one of the same name has taken its place. */
function isMadeAnew(before: Limits | null, now: Limits | null): boolean {
  return before !== null && now !== null && (["throttled", "throttledNs", "killed"] as const).some((count) => now[count] < before[count]);
}
