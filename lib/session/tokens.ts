import type { Span } from "../events/span.ts";

/** Counts generated tokens as they come, to end a run after so many. Where an engine samples by itself, decodes count. */
export class TokenCount {
  readonly #reached = Promise.withResolvers<void>();
  #sampled = 0;
  #decoded = 0;

  constructor(readonly limit: number | undefined) {}

  /** Resolves when the limit is reached; never without one. */
  get reached(): Promise<void> {
    return this.#reached.promise;
  }

  get count(): number {
    // The first token comes out of the prompt, before any decode.
    return this.#sampled > 0 ? this.#sampled : this.#decoded;
  }

  span(span: Span): void {
    if (span.type !== "slice") return;
    if (span.category === "llama.sample") this.#sampled++;
    else if (span.category === "llama.decode" && span.args?.phase === "decode") this.#decoded++;
    else return;
    if (this.limit !== undefined && this.count >= this.limit) this.#reached.resolve();
  }
}
