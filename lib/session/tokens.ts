import { DecodeContexts } from "../analysis/decode_contexts.ts";
import type { Span } from "../events/span.ts";
import type { Ns } from "../events/time.ts";

/** How fast tokens come is known by so many of the last. */
const RECENT = 8;

/** Counts generated tokens as they come, to end a run after so many. Those that a draft model computes, and guesses that were wrong, are none. */
export class TokenCount {
  readonly #reached = Promise.withResolvers<void>();
  readonly #contexts = new DecodeContexts();
  /** The first token of a sequence comes out of its prompt: where the engine's sampling is seen, that tells of it. */
  #firsts = 0;
  #samples = false;
  /** Of the last call: what is sampled from it comes next. An engine may call several samplers for one token. */
  #fresh: { readonly isPrompt: boolean; readonly generated: number } | null = null;

  /** When there were how many, of late. */
  readonly #recent: { readonly at: Ns; readonly count: number }[] = [];

  constructor(readonly limit: number | undefined) {}

  /** Resolves when the limit is reached; never without one. */
  get reached(): Promise<void> {
    return this.#reached.promise;
  }

  get count(): number {
    return this.#contexts.generated + this.#firsts - (this.#samples ? this.#fresh?.generated ?? 0 : 0);
  }

  /** When the limit will be reached if tokens go on as they came: in the past as long as that is not known, and never without a limit. */
  get due(): Ns {
    if (this.limit === undefined) return Infinity;
    const [first, last] = [this.#recent[0], this.#recent.at(-1)];
    return first === last ? -Infinity : last!.at + (this.limit - last!.count) * (last!.at - first!.at) / (last!.count - first!.count);
  }

  span(span: Span): void {
    if (span.type !== "slice") return;
    if (span.category === "llama.context") return this.#contexts.made(span);
    if (span.category === "llama.decode") {
      const generated = this.#contexts.decode(span) ?? 0;
      this.#fresh = { isPrompt: span.args?.phase !== "decode", generated };
    } else if (span.category === "llama.sample" && this.#fresh) {
      this.#samples = true;
      if (this.#fresh.isPrompt) this.#firsts++;
      this.#fresh = null;
    } else return;
    if (this.limit === undefined) return;
    const { count } = this;
    if (count > (this.#recent.at(-1)?.count ?? 0)) this.#recent.push({ at: span.end, count });
    if (this.#recent.length > RECENT) this.#recent.shift();
    if (count >= this.limit) this.#reached.resolve();
  }
}
