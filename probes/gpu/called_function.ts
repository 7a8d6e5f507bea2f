import type { GpuCall } from "../../lib/events/gpu.ts";
import type { Args } from "../../lib/events/span.ts";
import { type Family, givesAddresses, type Kind, type Signature, signatureOf } from "./signatures.ts";

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
  /** Undefined where nobody could look at the process. */
  readonly signature: Signature | undefined;
  /** Of one that is built for streams of threads: the one without a name is the thread's. */
  readonly perThread: boolean;
  /** See {@link givesAddresses}. */
  readonly gives: boolean;
  /** Which word of a call is an event, and which are flags, if any is. */
  readonly #slots: Readonly<Record<"event" | "flags", number | undefined>>;
  readonly #isAlike: boolean;
  readonly #understood = new Map<string, Understood>();

  /** `symbol`: what it is called there. */
  constructor(family: Family, symbol: string) {
    this.category = `gpu.${family}`;
    this.signature = signatureOf(family, symbol);
    this.perThread = /_(?:ptsz|ptds|spt)$/.test(symbol);
    this.gives = givesAddresses(symbol);
    const { words, layout } = this.signature ?? {};
    const slotOf = (word: string) => layout?.slots[words!.indexOf(word)];
    this.#slots = { event: slotOf("event"), flags: slotOf("flags") };
    this.#isAlike = this.signature !== undefined && ALIKE.has(this.signature.kind);
  }

  /** The event that a call is about, or how it makes a stream. */
  wordOf(word: "event" | "flags", found: readonly number[]): number | undefined {
    const slot = this.#slots[word];
    return slot === undefined ? undefined : found[slot];
  }

  /** One and the same for calls that are alike: whoever writes them knows it again. */
  again(found: readonly number[], result: number | null, understand: () => Understood): Understood {
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
