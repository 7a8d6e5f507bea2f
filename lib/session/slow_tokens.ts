import type { Span } from "../events/span.ts";
import type { Ns } from "../events/time.ts";

/** How many tokens before it a slow one is told by, and how few are enough. */
const REMEMBERED = 64, ENOUGH = 16;

export interface SlowToken {
  /** From the end of one `llama_decode` to that of the next. */
  readonly ns: number;
  /** Of those before. */
  readonly median: number;
}

/** Of one `llama_context`. */
interface Calls {
  readonly pid: number;
  /** When the last one ended. What lies before a prompt is no token's: it is the wait for the next request. */
  ended: Ns;
  readonly recent: number[];
  /** It was given guesses. */
  tried: boolean;
}

/** Tells when a token takes longer than others of its context: `factor` times the median of the last ones. */
export class SlowTokens {
  /** By process and address. */
  readonly #contexts = new Map<string, Calls>();
  #next: PromiseWithResolvers<SlowToken> | undefined;

  constructor(readonly factor: number) {}

  /** The next one from now on. Only while somebody waits for it are tokens looked at: others are looked at more closely, and take longer. */
  next(): Promise<SlowToken> {
    this.#next = Promise.withResolvers();
    for (const calls of this.#contexts.values()) calls.ended = NaN;
    return this.#next.promise;
  }

  span(span: Span): void {
    if (!this.#next || span.type !== "slice" || span.category !== "llama.decode" || span.open) return;
    const { track: { pid }, args, end } = span;
    const key = `${pid}:${args?.context}`;
    let calls = this.#contexts.get(key);
    if (!calls) this.#contexts.set(key, calls = { pid, ended: NaN, recent: [], tried: false });
    const ns = end - calls.ended;
    calls.ended = end;
    if (args?.guessed !== undefined) calls.tried = true;
    if (args?.phase !== "decode" || !(ns >= 0)) return;
    const { recent } = calls, sorted = recent.toSorted((a, b) => a - b);
    const median = sorted[sorted.length >> 1] ?? NaN;
    recent.push(ns);
    if (recent.length > REMEMBERED) recent.shift();
    if (sorted.length < ENOUGH || !(ns > this.factor * median)) return;
    // A context that guesses for another one waits for it each time.
    if (!calls.tried && [...this.#contexts.values()].some((other) => other.pid === pid && other.tried)) return;
    this.#next.resolve({ ns, median });
    this.#next = undefined;
  }
}
