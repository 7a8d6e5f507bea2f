import type { Span } from "../events/span.ts";

/** Counts generated tokens as they come, to end a run after so many. Where an engine samples by itself, decodes count. */
export class TokenCount {
  readonly #reached = Promise.withResolvers<void>();
  #sampled = 0;
  #decoded = 0;
  /** An engine may call several samplers for one token: the first after a decode counts. */
  #fresh = false;

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
    if (span.category === "llama.decode") {
      this.#fresh = true;
      if (span.args?.phase === "decode") this.#decoded++;
    } else if (span.category === "llama.sample" && this.#fresh) {
      this.#fresh = false;
      this.#sampled++;
    } else return;
    if (this.limit !== undefined && this.count >= this.limit) this.#reached.resolve();
  }
}
