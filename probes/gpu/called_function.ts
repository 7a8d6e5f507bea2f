import type { Args, GpuCall } from "../../lib/events/span.ts";
import type { Family, Kind, Signature } from "./signatures.ts";

/** What a call means, and how a trace says it. */
export interface Understood {
  readonly gpu: GpuCall;
  readonly args: Args | undefined;
}

/** Kinds of calls that mean the same whenever the same is said. Of others it depends on what came before: what is held where, what is recorded. */
const ALIKE = new Set<Kind>(["state", "query", "launch", "graphLaunch", "sync", "event", "poll", "set", "collective", "group", "submit"]);
/** So many different calls are remembered of a function. */
const MOST = 4096;

/** A function of a process, and what its calls were understood as: an engine launches the same kernels in the same way for each token. */
export class CalledFunction {
  readonly category: string;
  readonly #isAlike: boolean;
  readonly #understood = new Map<string, Understood>();

  /** `signature`: undefined where nobody could look at the process. */
  constructor(family: Family, readonly signature: Signature | undefined) {
    this.category = `gpu.${family}`;
    this.#isAlike = signature !== undefined && ALIKE.has(signature.kind);
  }

  /** One and the same for calls that are alike: whoever writes them knows it again. */
  again(found: readonly number[], result: number, understand: () => Understood): Understood {
    if (!this.#isAlike) return understand();
    let key = `${result}`;
    for (const slot of this.signature!.layout.slots) key += ` ${found[slot]}`;
    let understood = this.#understood.get(key);
    if (!understood) {
      if (this.#understood.size >= MOST) this.#understood.clear();
      this.#understood.set(key, understood = understand());
    }
    return understood;
  }

  /** What was understood may be otherwise now. */
  forget(): void {
    this.#understood.clear();
  }
}
