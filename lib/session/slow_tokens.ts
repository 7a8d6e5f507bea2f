import type { DecodeContext } from "../analysis/decode_context.ts";
import { DecodeContexts } from "../analysis/decode_contexts.ts";
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

/** Of one context. */
interface Calls {
  /** When the last one ended. What lies before a prompt is no token's: it is the wait for the next request. */
  ended: Ns;
  readonly recent: number[];
}

/** Tells when a token takes longer than others of its context: `factor` times the median of the last ones. */
export class SlowTokens {
  readonly #contexts = new DecodeContexts();
  readonly #calls = new Map<DecodeContext, Calls>();
  #next: PromiseWithResolvers<SlowToken> | undefined;

  constructor(readonly factor: number) {}

  /** The next one from now on. Only while somebody waits for it are tokens looked at: others are looked at more closely, and take longer. */
  next(): Promise<SlowToken> {
    this.#next = Promise.withResolvers();
    this.#contexts.interrupt();
    for (const calls of this.#calls.values()) calls.ended = NaN;
    return this.#next.promise;
  }

  span(span: Span): void {
    if (!this.#next || span.type !== "slice") return;
    if (span.category === "llama.context") return this.#contexts.made(span);
    if (span.category !== "llama.decode" || span.open) return;
    this.#contexts.decode(span);
    const context = this.#contexts.of(span), { args, end } = span;
    let calls = this.#calls.get(context);
    if (!calls) this.#calls.set(context, calls = { ended: NaN, recent: [] });
    const ns = end - calls.ended;
    calls.ended = end;
    // A call with another sequence's prompt brings tokens, too: that they wait for it is the commonest cause in a server.
    const brings = args?.phase === "decode" || Number(args?.generated) > 0;
    if (!brings || !(ns >= 0)) return;
    const { recent } = calls, sorted = recent.toSorted((a, b) => a - b);
    const median = sorted[sorted.length >> 1] ?? NaN;
    recent.push(ns);
    if (recent.length > REMEMBERED) recent.shift();
    if (sorted.length < ENOUGH || !(ns > this.factor * median)) return;
    // A context that guesses for another one waits for it each time.
    if (this.#contexts.guessers(context.pid).has(context)) return;
    this.#next.resolve({ ns, median });
    this.#next = undefined;
  }
}
