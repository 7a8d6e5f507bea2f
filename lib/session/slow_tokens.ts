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

/** Tells when a token takes longer than others: `factor` times the median of the last ones. */
export class SlowTokens {
  readonly #recent: number[] = [];
  /** By process: when its last call ended. What lies before a prompt is no token's: it is the wait for the next request. */
  readonly #ended = new Map<number, Ns>();
  #next: PromiseWithResolvers<SlowToken> | undefined;

  constructor(readonly factor: number) {}

  /** The next one from now on. Only while somebody waits for it are tokens looked at: others are looked at more closely, and take longer. */
  next(): Promise<SlowToken> {
    this.#next = Promise.withResolvers();
    this.#ended.clear();
    return this.#next.promise;
  }

  span(span: Span): void {
    if (!this.#next || span.type !== "slice" || span.category !== "llama.decode" || span.open) return;
    const { track: { pid }, args, end } = span;
    const ns = end - (this.#ended.get(pid) ?? NaN);
    this.#ended.set(pid, end);
    if (args?.phase !== "decode" || !(ns >= 0)) return;
    const sorted = this.#recent.toSorted((a, b) => a - b);
    const median = sorted[sorted.length >> 1] ?? NaN;
    this.#recent.push(ns);
    if (this.#recent.length > REMEMBERED) this.#recent.shift();
    if (sorted.length < ENOUGH || !(ns > this.factor * median)) return;
    this.#next.resolve({ ns, median });
    this.#next = undefined;
  }
}
