import type { Slice } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import { Histogram } from "./histogram.ts";
import { Intervals } from "./intervals.ts";
import { phaseOf } from "./operator_sums.ts";
import type { TokenSums } from "./operators_schema.ts";
import type { StoppedTimes } from "./stopped.ts";

export const NO_TOKENS: Readonly<TokenSums> = {
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

/** How many sequences there are, and the sum of the places where their tokens begin. */
interface Places {
  readonly runs: number;
  readonly begins: number;
}

/**
 * What was given to a context on trial: of each sequence a token that is certain, and after it those that somebody guessed; and perhaps a piece of a prompt
 * of one more.
 */
interface Trial extends Places {
  readonly guessed: number;
  /** How far all sequences together go on for certain. */
  readonly certain: number;
  readonly phase: "prefill" | "decode";
  /** It is the end of an interval. */
  readonly follows: boolean;
}

/**
 * The calls of one `llama_context`. An engine that guesses tokens (speculative decoding) gives a context several of one sequence at once and keeps
 * those that the context would have chosen itself; where its next call begins says how many these were.
 */
export class DecodeContext {
  readonly tokens = { ...NO_TOKENS };
  /** From the end of a call to the end of the next one that generates: how long, when, and how many tokens. */
  readonly intervals = new Histogram();
  readonly generating = new Intervals();
  intervalTokens = 0;
  #lastStart: Ns = NaN;
  #lastEnd: Ns = NaN;
  #lastPlaces: Places | null = null;
  #trial: Trial | null = null;
  /** Calls with guesses, and before how many of them another context computed. */
  #trials = 0;
  readonly #before = new Map<DecodeContext, number>();

  constructor(readonly pid: number, readonly address: number) {}

  /** It was called, whatever came of it: where the call begins says what was kept before. */
  called(slice: Slice): void {
    this.tokens[`${phaseOf(slice)}Calls`]++;
    this.#resolve(placesOf(argsOf(slice)));
    this.#trial = null;
  }

  /** A call that succeeded; how many tokens it generated for certain. `others`: of the same process. */
  decoded(slice: Slice, others: Iterable<DecodeContext>, stopped: StoppedTimes): number {
    const phase = phaseOf(slice), { start, end } = slice;
    const args = argsOf(slice), { tokens = 0, guessed = 0 } = args;
    const generated = phase === "decode" ? tokens - guessed : args.generated ?? 0;
    const sums = this.tokens, follows = generated > 0 && end > this.#lastEnd;
    sums.prefill += tokens - guessed - generated;
    sums.decode += generated;
    if (phase === "prefill") sums.besidePrompts += generated;
    sums.guessed += guessed;
    sums[`${phase}Ns`] += stopped.net(this.pid, start, end);
    if (follows) {
      this.intervals.add(stopped.net(this.pid, this.#lastEnd, end));
      this.generating.add(this.#lastEnd, end);
      this.intervalTokens += generated;
    }
    const places = placesOf(args);
    if (guessed > 0) {
      this.#trial = { ...places!, guessed, certain: tokens - guessed, phase, follows };
      this.#triedAt(start, places, others);
    }
    this.#lastStart = start;
    this.#lastEnd = end;
    this.#lastPlaces = places;
    return generated;
  }

  /** What comes next follows from nothing that was seen. */
  interrupt(): void {
    this.#lastEnd = NaN;
    this.#trial = null;
  }

  /** Those that computed before most of the calls in which it was given guesses. Where they were says nothing: engines may guess out of step. */
  get guessers(): DecodeContext[] {
    return [...this.#before].filter(([, times]) => times * 2 > this.#trials).map(([other]) => other);
  }

  /**
   * Others that computed since its last call, and not beside it, may have made the guesses. Who was given right ones itself makes none. One that generates
   * none makes them where the tokens that are certain are: a single guess (MTP) comes of a call that looks like the last piece of a prompt.
   */
  #triedAt(start: Ns, places: Places | null, others: Iterable<DecodeContext>): void {
    this.#trials++;
    for (const other of others) {
      const isBefore = other.#lastStart >= this.#lastEnd && other.#lastEnd <= start, there = other.#lastPlaces;
      const guesses = other.tokens.decode > 0 || there && places && there.runs === places.runs && there.begins === places.begins;
      if (isBefore && guesses && other.tokens.kept === 0) this.#before.set(other, (this.#before.get(other) ?? 0) + 1);
    }
  }

  /** Each of the same sequences goes on behind what was kept of it, and a prompt's behind its piece. Others say nothing of those that were tried. */
  #resolve(places: Places | null): void {
    if (!this.#trial || !places || places.runs !== this.#trial.runs) return;
    const kept = places.begins - this.#trial.begins - this.#trial.certain;
    if (kept < 0 || kept > this.#trial.guessed) return;
    this.tokens.kept += kept;
    this.tokens.decode += kept;
    if (this.#trial.phase === "prefill") this.tokens.besidePrompts += kept;
    if (this.#trial.follows) this.intervalTokens += kept;
  }
}

type Numbers = Readonly<Record<string, number>>;

function argsOf({ args }: Slice): Numbers {
  return (args ?? {}) as Numbers;
}

function placesOf({ tokens, guessed, position, runs, begins }: Numbers): Places | null {
  if (begins !== undefined) return { runs: runs!, begins };
  if (position === undefined || (guessed === undefined && tokens !== 1)) return null;
  return { runs: 1, begins: position - (guessed ?? 0) };
}
