import type { Slice } from "../events/span.ts";
import type { Ns } from "../events/time.ts";

/** What the answer rests on, the surest first. */
export type FirstTokenBasis = "sampling" | "next call" | "last call";

/**
 * When the first token of a `llama_context` became available.
 *
 * A prompt may be evaluated in several prefill calls, and a warm-up call before it looks like one; what tells them from the last call of the
 * prompt is what follows. So the first token is there
 *  - when the first sampling after a `llama_decode` returns (an engine samples only when it wants a token), or
 *  - where no sampling was seen before the next call with phase `decode`: at the end of the call before that one, or
 *  - where nothing follows at all: at the end of the last call (a later span could still change it).
 */
export class ContextToken {
  /** When the first call of the prompt began that gave the token: who comes later did not ask for it. */
  begun: Ns;
  /** False when the first call seen was a generating one: the prompt was evaluated before the window. */
  readonly promptSeen: boolean;
  /** Of the last call, which may have completed the prompt. */
  lastStart: Ns;
  lastEnd: Ns;
  /** Since that call. */
  isSampled = false;
  /** Whether it is to say which of somebody's guesses are right. */
  isGivenGuesses = false;
  #at: Ns | undefined;
  #basis: FirstTokenBasis = "last call";
  /** The place of the last token of the last call; not known of several sequences or a picture, or where the engine leaves places to llama.cpp. */
  #place: number | undefined;

  /** The first call. */
  constructor(slice: Slice) {
    this.begun = slice.start;
    this.promptSeen = !generates(slice);
    this.lastStart = slice.start;
    this.lastEnd = slice.end;
    this.#called(slice);
  }

  /** The next call. `isSampling`: its process was seen to sample, so that a token without that is none. */
  decode(slice: Slice, isSampling: boolean): void {
    if (this.#at === undefined && generates(slice) && !isSampling) {
      this.#at = this.lastEnd;
      this.#basis = "next call";
    }
    if (this.#at === undefined && !generates(slice) && this.#isAnew(slice)) this.begun = slice.start;
    this.lastStart = slice.start;
    this.lastEnd = slice.end;
    this.isSampled = false;
    this.#called(slice);
  }

  #called(slice: Slice): void {
    if (Number(slice.args?.guessed ?? 0) > 0) this.isGivenGuesses = true;
    this.#place = placeOf(slice);
  }

  /** Whether the call begins before the end of the last one, which belonged to a prompt that nobody waits for any more. */
  #isAnew(slice: Slice): boolean {
    const before = placeOf(slice, Number(slice.args?.tokens));
    return before !== undefined && before >= -1 && this.#place !== undefined && before < this.#place;
  }

  sample(slice: Slice): void {
    this.isSampled = true;
    if (this.#at !== undefined) return;
    this.#at = slice.end;
    this.#basis = "sampling";
  }

  get basis(): FirstTokenBasis {
    return this.#basis;
  }

  /** The best answer so far. */
  get at(): Ns {
    return this.#at ?? this.lastEnd;
  }
}

function generates({ args }: Slice): boolean {
  return args?.phase === "decode";
}

/** Of the last token of a call, or of the one so many before it. */
function placeOf({ args }: Slice, before = 0): number | undefined {
  return args?.position === undefined || args.runs !== undefined ? undefined : Number(args.position) - before;
}
