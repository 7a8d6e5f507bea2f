import type { Slice } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import { ContextToken, type FirstTokenBasis } from "./context_token.ts";
import type { DecodeContext } from "./decode_context.ts";
import type { DecodeContexts } from "./decode_contexts.ts";

/** Where somebody guesses, within so many calls there are guesses to try. */
const MOST_UNTRIED = 256;

/**
 * When the first token of a process became available: that of its first context (`ContextToken`) which does not guess for another one. A draft may
 * compute and be sampled long before the model that it guesses for, so where there is another context the answer is `certain` only when the one that
 * gave it is given guesses itself, or nobody is for long.
 * Calls are followed per process and not per thread: engines evaluate and sample on whichever worker thread is free.
 */
export class FirstToken {
  readonly #addresses = new Set<number>();
  readonly #tokens = new Map<DecodeContext, ContextToken>();
  #isSampling = false;
  /** Calls since there is an answer. */
  #calls = 0;
  /** The one that gave the answer, as soon as no later span can change that: neither a call, nor who turns out to guess. */
  #answer: ContextToken | undefined;

  /** `contexts`: of its calls, too, which are told of each before this is. */
  constructor(readonly pid: number, readonly contexts: DecodeContexts) {}

  /** A context was made, whose first call may be long in coming. */
  made(slice: Slice): void {
    if (!this.certain && slice.args?.context !== undefined) this.#addresses.add(Number(slice.args.context));
  }

  /** A call that succeeded. */
  decode(slice: Slice): void {
    if (this.certain) return;
    const context = this.contexts.of(slice), token = this.#tokens.get(context);
    this.#addresses.add(context.address);
    if (this.basis !== "last call") this.#calls++;
    if (token) token.decode(slice, this.#isSampling);
    else this.#tokens.set(context, new ContextToken(slice));
    this.#decide();
  }

  sample(slice: Slice): void {
    if (this.certain || slice.open) return;
    const token = this.#calledBefore(slice.start);
    if (!token) return;
    this.#isSampling = true;
    token.sample(slice);
    this.#decide();
  }

  /** Nothing that follows has to do with what was seen: the best answer stands. */
  interrupt(): void {
    this.#answer = this.#token;
  }

  /** Whether no later span can change the answer. */
  get certain(): boolean {
    return this.#answer !== undefined;
  }

  #decide(): void {
    const token = this.#token;
    if (token === undefined || token.basis === "last call") return;
    if (this.#addresses.size === 1 || token.isGivenGuesses || this.#calls > MOST_UNTRIED) this.#answer = token;
  }

  get basis(): FirstTokenBasis {
    return this.#token?.basis ?? "last call";
  }

  /** The best answer so far. */
  get at(): Ns | undefined {
    return this.#token?.at;
  }

  /** When the prompt that gave it began to be computed. */
  get begun(): Ns | undefined {
    return this.#token?.begun;
  }

  get promptSeen(): boolean {
    return this.#token?.promptSeen ?? false;
  }

  /** The one that gave the answer. */
  get #token(): ContextToken | undefined {
    if (this.#answer) return this.#answer;
    const guessers = this.contexts.guessers(this.pid);
    const tokens = [...this.#tokens].flatMap(([context, token]) => guessers.has(context) ? [] : [token]);
    const followed = tokens.filter(({ basis }) => basis !== "last call").sort((a, b) => a.at - b.at);
    return followed[0] ?? tokens.sort((a, b) => b.at - a.at)[0];
  }

  /** Of which a sampling is: the call that ended last, but of those at work at once the first of which there was none yet. */
  #calledBefore(at: Ns): ContextToken | undefined {
    const ended = [...this.#tokens.values()].filter(({ lastEnd }) => lastEnd <= at).sort((a, b) => b.lastEnd - a.lastEnd);
    return ended.reduce((of, other) => other.lastEnd > of.lastStart && !other.isSampled ? other : of, ended[0]!);
  }
}
