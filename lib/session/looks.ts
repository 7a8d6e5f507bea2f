import type { Event } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import type { Probe } from "../programs/probe.ts";
import { HeldFiles } from "./held_files.ts";
import type { Means } from "./means.ts";
import { StackPlaces } from "./stack_places.ts";

/** A program that has run for so long has begun. */
const BEGUN_MS = 100;

/**
 * Where probes ask for what inodes and addresses stand for, processes are looked at while they are there: those that run already, and each as soon as an
 * event tells of something new.
 */
export class Looks {
  readonly #held: HeldFiles | undefined;
  readonly #places: StackPlaces | undefined;
  readonly #beginning = new Set<number>();
  #left = false;

  /** `look` does the work beside what is being attached. */
  constructor(readonly means: Means, probes: readonly Probe[], fact: (fact: Fact) => void, readonly look: (work: () => Promise<void>) => void) {
    const asksFor = (what: "mapped" | "places") => probes.some(({ facts }) => facts?.includes(what));
    if (asksFor("mapped")) this.#held = new HeldFiles(means.files, fact);
    if (asksFor("places")) this.#places = new StackPlaces(means.files, means.machine.arch, fact);
  }

  /** Processes were running before llmprof. */
  async present(pids: () => Promise<readonly number[]>): Promise<void> {
    await this.#held?.present(await pids());
  }

  heard(event: Event): void {
    const { record, pid, tid } = event;
    const mapping = this.#held?.firstTold(event);
    if (mapping && !this.#left) this.look(() => this.#held!.look(pid, mapping));
    if (this.#places?.firstTold(event) && !this.#left) this.look(() => this.#places!.look(pid));
    if (this.#held && record === "process/life.exec") this.#begins(pid);
    if (record === "process/life.exit" && pid === tid) this.#beginning.delete(pid);
  }

  leave(): void {
    this.#left = true;
  }

  /** A process runs another program. Most that a shell starts are over before it is worth a look. */
  #begins(pid: number): void {
    if (this.#beginning.size === 0) {
      void this.means.sleep(BEGUN_MS).then(() => {
        const begun = [...this.#beginning];
        this.#beginning.clear();
        if (begun.length > 0 && !this.#left) this.look(() => this.#held!.began(begun));
      });
    }
    this.#beginning.add(pid);
  }
}
