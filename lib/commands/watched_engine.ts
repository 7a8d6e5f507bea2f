import type { Fact } from "../events/fact.ts";
import type { KernelFiles } from "../machine/files.ts";
import { findEngine } from "../target/engine.ts";

/** Seconds at which it is looked: a look is a child process. */
const LOOKS = [1, 3, 7, 15, 31, 63];

/** Which engine the target is, and what it infers with, as a fact that its last look makes true. */
export class WatchedEngine {
  #seconds = 0;
  #told: Fact | undefined;
  #isKnown = false;

  constructor(readonly files: KernelFiles, readonly members: () => Promise<readonly number[]>) {}

  /** Asked each second. */
  async look(): Promise<Fact[]> {
    return this.#isKnown || !LOOKS.includes(this.#seconds++) ? [] : await this.#facts();
  }

  /** Once more at the end, where the model was not there before. */
  async conclude(): Promise<Fact[]> {
    return this.#isKnown ? [] : await this.#facts();
  }

  async #facts(): Promise<Fact[]> {
    const found = await findEngine(this.files, await this.members());
    if (!found || (this.#told && found.engine === null)) return [];
    this.#isKnown = found.engine !== null && found.model !== null;
    return [this.#told = { fact: "engine", ...found }];
  }
}
