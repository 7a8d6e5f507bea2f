import type { Fact } from "../events/fact.ts";
import type { KernelFiles } from "../machine/files.ts";
import { readNames } from "../target/thread_names.ts";

/** A process is asked at its first looks: what has just begun may become another program. */
const LOOKS = 2;

/** What processes call themselves, as facts, when they are new. Who ends sooner tells it itself. */
export class WatchedNames {
  /** By process: how often it was asked. */
  #asked = new Map<number, number>();

  /** `members`: whom the run is about. */
  constructor(readonly files: KernelFiles, readonly members: () => Promise<readonly number[]>) {}

  async look(): Promise<Fact[]> {
    const pids = await this.members();
    // Whoever is gone may come again as another.
    this.#asked = new Map(pids.map((pid) => [pid, (this.#asked.get(pid) ?? 0) + 1]));
    const fresh = pids.filter((pid) => this.#asked.get(pid)! <= LOOKS);
    const names = await readNames(this.files, fresh);
    return fresh.flatMap((pid, i) => names[i] ? [{ fact: "names", pid, name: names[i], threads: [] }] : []);
  }
}
