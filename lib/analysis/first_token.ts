import type { Slice } from "../events/span.ts";
import type { Ns } from "../events/time.ts";

/** What the answer rests on, the surest first. */
export type FirstTokenBasis = "sampling" | "next call" | "last call";

/**
 * When the first token of a process became available.
 *
 * A prompt may be evaluated in several prefill calls, and a warm-up call before it looks like one; what tells them from the last call of the
 * prompt is what follows. So the first token is there
 *  - when the first sampling after a `llama_decode` returns (an engine samples only when it wants a token), or
 *  - where no sampling was seen before the next call with phase `decode`: at the end of the call before that one, or
 *  - where nothing follows at all: at the end of the last call (`certain` stays false, since a later span could still change it).
 * Calls are followed per process and not per thread: engines evaluate and sample on whichever worker thread is free.
 */
export class FirstToken {
  /** End of the last call that may have completed the prompt. */
  #promptEnd: Ns | undefined;
  #at: Ns | undefined;
  #basis: FirstTokenBasis = "last call";
  /** When the first call began: who comes later did not ask for the token. */
  begun: Ns | undefined;
  /** False when the first call seen was a generating one: the prompt was evaluated before the window. */
  promptSeen = false;

  constructor(readonly pid: number) {}

  decode(slice: Slice): void {
    if (this.certain || slice.open || Number(slice.args?.ret ?? 0) !== 0) return;
    const generates = slice.args?.phase === "decode";
    this.begun ??= slice.start;
    if (this.#promptEnd === undefined) this.promptSeen = !generates;
    else if (generates) {
      this.#at = this.#promptEnd;
      this.#basis = "next call";
      return;
    }
    this.#promptEnd = slice.end;
  }

  sample(slice: Slice): void {
    if (this.certain || slice.open || this.#promptEnd === undefined || slice.start < this.#promptEnd) return;
    this.#at = slice.end;
    this.#basis = "sampling";
  }

  /** Nothing that follows has to do with what was seen: the best answer stands. */
  interrupt(): void {
    this.#at ??= this.#promptEnd;
  }

  get certain(): boolean {
    return this.#at !== undefined;
  }

  get basis(): FirstTokenBasis {
    return this.#basis;
  }

  /** The best answer so far. */
  get at(): Ns | undefined {
    return this.#at ?? this.#promptEnd;
  }
}
