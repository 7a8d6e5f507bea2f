import type { Fact } from "../events/fact.ts";
import type { KernelFiles } from "../machine/files.ts";
import { readThreadNames } from "../target/thread_names.ts";

/**
 * What the target's processes and threads call themselves, as facts: who ends while llmprof watches tells it then, and who was there before and stays
 * tells nothing.
 */
export class WatchedNames {
  #hasLooked = false;

  constructor(readonly files: KernelFiles, readonly members: () => Promise<readonly number[]>) {}

  /** Asked each second, until it gives null. */
  async look(): Promise<Fact[] | null> {
    if (this.#hasLooked) return null;
    this.#hasLooked = true;
    return await this.facts();
  }

  /** Of those that are there now. */
  async facts(): Promise<Fact[]> {
    const names = await Promise.all((await this.members()).map((pid) => readThreadNames(this.files, pid)));
    return names.flatMap((found) => found ? [{ fact: "names", ...found }] : []);
  }
}
