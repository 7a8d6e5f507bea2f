import type { Fact } from "../events/fact.ts";
import type { Limits } from "../events/span.ts";
import { findGroups, type Groups, readLimits } from "../machine/control_group.ts";
import type { Means } from "../session/means.ts";
import type { Session } from "../session/session.ts";

const EVERY_MS = 1000;

/**
 * What control groups allow the target, at the beginning of a run and at its end. Looked at each second, because a group may go with its last process, and a
 * process may be put into another.
 */
export class WatchedLimits {
  #pid: number | undefined;
  #groups: Groups | null = null;
  #last: Limits | null = null;

  constructor(readonly means: Means) {}

  follow(session: Session, end: Promise<unknown>): void {
    let isOver = false;
    void end.then(() => isOver = true);
    const watch = async () => {
      while (!isOver) {
        await this.#look(session);
        await Promise.race([this.means.sleep(EVERY_MS), end]);
      }
    };
    void session.counting.then(watch);
  }

  async conclude(): Promise<Fact[]> {
    const limits = this.#groups && (await readLimits(this.means.files, this.#groups) ?? this.#last);
    return limits && this.#pid !== undefined ? [{ fact: "limits", pid: this.#pid, limits }] : [];
  }

  async #look(session: Session): Promise<void> {
    const { files } = this.means;
    const { pid } = session;
    if (pid === undefined) return;
    const groups = await findGroups(files, pid);
    const isOther = groups !== null && JSON.stringify(groups) !== JSON.stringify(this.#groups);
    if (groups) this.#groups = groups;
    const limits = this.#groups && await readLimits(files, this.#groups);
    if (!limits) return;
    this.#last = limits;
    this.#pid = pid;
    // Its counts began before.
    if (isOther) session.tell({ fact: "limits", pid, limits });
  }
}
