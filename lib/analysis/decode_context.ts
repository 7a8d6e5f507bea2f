import type { Slice } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import { Histogram } from "./histogram.ts";
import { Intervals } from "./intervals.ts";
import { phaseOf } from "./operator_sums.ts";

/** Of one context, or of several. Generated are those that stay. */
export interface TokenSums {
  prefill: number;
  decode: number;
  /** Of the generated ones, those in calls that have a prompt, too. */
  besidePrompts: number;
  /** Computed because somebody guessed them, and how many of these stay. */
  guessed: number;
  kept: number;
  prefillCalls: number;
  decodeCalls: number;
  prefillNs: number;
  decodeNs: number;
}

export const NO_TOKENS: TokenSums = {
  prefill: 0,
  decode: 0,
  besidePrompts: 0,
  guessed: 0,
  kept: 0,
  prefillCalls: 0,
  decodeCalls: 0,
  prefillNs: 0,
  decodeNs: 0,
};

/** What was given to a context on trial: of each sequence a token that is certain, and after it those that somebody guessed. */
interface Trial extends Places {
  readonly guessed: number;
}

/** How many sequences, and the sum of the places where their tokens begin. */
interface Places {
  readonly runs: number;
  readonly begins: number;
}

function placesOf({ tokens, guessed, position, runs, begins }: Readonly<Record<string, number>>): Places | null {
  if (begins !== undefined) return { runs: runs!, begins };
  if (position === undefined || (guessed === undefined && tokens !== 1)) return null;
  return { runs: 1, begins: position - (guessed ?? 0) };
}

/**
 * The calls of one `llama_context`. An engine that guesses tokens (speculative decoding) gives a context several of one sequence at once and keeps
 * those that the context would have chosen itself; where its next call begins says how many these were.
 */
export class DecodeContext {
  /** As they are computed: all that were guessed are generated, and none is guessed. */
  readonly computed = { ...NO_TOKENS };
  /** From the end of a call to the end of the next one that generates: how long, when, and how many tokens. */
  readonly intervals = new Histogram();
  readonly generating = new Intervals();
  intervalTokens = 0;
  lastEnd: Ns = NaN;
  #guessed = 0;
  /** Of what was guessed, as far as it was seen. */
  kept = 0;
  /** Calls with guessed tokens, and before how many of them another context computed. */
  #trials = 0;
  readonly #before = new Map<DecodeContext, number>();
  #lastStart: Ns = NaN;
  #trial: Trial | null = null;

  /** A call that succeeded, and took `ns`; how many tokens it generated, if what was guessed is right. */
  decoded(slice: Slice, ns: number): number {
    const phase = phaseOf(slice);
    const args = (slice.args ?? {}) as Readonly<Record<string, number>>;
    const { tokens = 0, guessed } = args;
    const generated = phase === "decode" ? tokens : args.generated ?? 0;
    const { computed } = this;
    computed.prefill += tokens - generated;
    computed.decode += generated;
    if (phase === "prefill") computed.besidePrompts += generated;
    computed[`${phase}Ns`] += ns;
    const places = placesOf(args);
    this.#resolve(places);
    this.#trial = places && guessed !== undefined ? { ...places, guessed } : null;
    if (this.#trial) {
      this.#trials++;
      this.#guessed += this.#trial.guessed;
    }
    return generated;
  }

  /** It is about to be given guesses, at `start`: others that computed since its last call, and not beside one of its calls, may have made them. */
  triedAt(start: Ns, others: Iterable<DecodeContext>): void {
    for (const other of others) {
      if (other === this || !(other.#lastStart >= this.lastEnd && other.lastEnd <= start)) continue;
      this.#before.set(other, (this.#before.get(other) ?? 0) + 1);
    }
  }

  /** Those that computed before most of them. Where they were says nothing: engines may guess out of step. */
  get guessers(): DecodeContext[] {
    return [...this.#before].filter(([, times]) => times * 2 > this.#trials).map(([other]) => other);
  }

  /** Two sequences that happen to be at neighbouring places look like a guess, but none of theirs is ever kept, and nobody made it. */
  get tokens(): TokenSums {
    const { computed, kept } = this, guessed = this.#guessed;
    return kept > 0 || this.guessers.length > 0 ? { ...computed, decode: computed.decode - guessed + kept, guessed, kept } : computed;
  }

  /** The call was the last one. */
  ended({ start, end }: Slice): void {
    this.#lastStart = start;
    this.lastEnd = end;
  }

  /** What comes next follows from nothing that was seen. */
  interrupt(): void {
    this.lastEnd = NaN;
    this.#trial = null;
  }

  /** Each of the same sequences goes on behind what was kept of it. Others say nothing of those that were tried. */
  #resolve(places: Places | null): void {
    if (!this.#trial || places?.runs !== this.#trial.runs) return;
    const kept = places.begins - this.#trial.begins - places.runs;
    if (kept >= 0 && kept <= this.#trial.guessed) this.kept += kept;
  }
}

/** The contexts of one process, by address. */
export class DecodeContexts {
  readonly #all = new Map<number, DecodeContext>();

  of(slice: Slice): DecodeContext {
    const address = Number(slice.args?.context ?? 0);
    let context = this.#all.get(address);
    if (!context) this.#all.set(address, context = new DecodeContext());
    return context;
  }

  triedAt(start: Ns, context: DecodeContext): void {
    context.triedAt(start, this.#all.values());
  }

  /** Computes what another one is tried with. Who is given right guesses makes none: two may be at work in turns. */
  guesses(context: DecodeContext): boolean {
    return this.#all.size > 1 && context.kept === 0 && [...this.#all.values()].some(({ guessers }) => guessers.includes(context));
  }

  told(): readonly { readonly address: number; readonly guesses: boolean; readonly context: DecodeContext }[] {
    return [...this.#all].map(([address, context]) => ({ address, guesses: this.guesses(context), context }));
  }

  interrupt(): void {
    for (const context of this.#all.values()) context.interrupt();
  }
}
