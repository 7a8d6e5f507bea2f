import type { Fact } from "../events/fact.ts";
import type { KernelFiles } from "../machine/files.ts";
import { findEngine } from "../target/engine.ts";

/** Seconds at which it is looked: a look is a child process. */
const LOOKS = [1, 4, 16, 64];

/** Which engine the target is, and what it infers with, as a fact that its last look makes true. */
export class WatchedEngine {
  #seconds = 0;
  /** Its name, as far as it is known. */
  engine: string | null = null;
  #isTold = false;
  #isKnown = false;

  constructor(readonly files: KernelFiles, readonly members: () => Promise<readonly number[]>) {}

  /** Asked each second, until it gives null: there is nothing more to look for. */
  async look(): Promise<Fact[] | null> {
    const second = this.#seconds++;
    if (this.#isKnown || second > LOOKS.at(-1)!) return null;
    return LOOKS.includes(second) ? await this.#facts() : [];
  }

  /** Where the model was not there before: when a gate has been passed, because the target may be gone in a second, and at the end. */
  async once(): Promise<Fact[]> {
    return this.#isKnown ? [] : await this.#facts();
  }

  async #facts(): Promise<Fact[]> {
    const found = await findEngine(this.files, await this.members());
    if (!found || (this.#isTold && found.engine === null)) return [];
    this.#isTold = true;
    this.engine = found.engine;
    this.#isKnown = found.engine !== null && found.model !== null;
    return [{ fact: "engine", ...found }];
  }
}
