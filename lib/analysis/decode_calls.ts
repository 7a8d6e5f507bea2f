import type { Slice } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import { type DecodeContext, NO_TOKENS } from "./decode_context.ts";
import { DecodeContexts } from "./decode_contexts.ts";
import { FirstToken } from "./first_token.ts";
import { Histogram } from "./histogram.ts";
import type { LibraryCalls } from "./library_calls.ts";
import type { OperatorsResult, TokenSums } from "./operators_schema.ts";
import type { StoppedTimes } from "./stopped.ts";

interface Process {
  readonly firstStart: Ns;
  lastEnd: Ns;
}

/**
 * Tokens and the calls that make them. Calls follow each other per process, not per thread, because engines call from whichever worker thread
 * is free. A context that guesses for another one computes tokens and makes none.
 */
export class DecodeCalls {
  readonly #processes = new Map<number, Process>();
  readonly #firsts = new Map<number, FirstToken>();
  readonly #contexts: DecodeContexts;
  #open = 0;
  #failed = 0;
  #betweenNs = 0;
  #betweenUnknownNs = 0;
  #samplingNs = 0;
  #samplingCalls = 0;

  constructor(readonly stopped: StoppedTimes, readonly library: LibraryCalls) {
    this.#contexts = new DecodeContexts(stopped);
  }

  /** The one that is called. */
  contextOf(slice: Slice): DecodeContext {
    return this.#contexts.of(slice);
  }

  decode(slice: Slice): void {
    const { pid } = slice.track;
    const process = this.#process(pid, slice.start);
    const generated = this.#contexts.decode(slice);
    if (slice.open) {
      this.#open++;
      return;
    }
    if (generated === null) {
      this.#failed++;
      this.library.explains(slice);
      return;
    }
    this.#first(pid).decode(slice);
    // Only before a call that generates: what lies before a prompt is the wait for the next request.
    if (generated > 0 && slice.start > process.lastEnd) {
      this.#betweenNs += this.stopped.net(pid, process.lastEnd, slice.start);
      this.#betweenUnknownNs += this.library.unexplained(pid, process.lastEnd, slice.start);
    }
    process.lastEnd = slice.end;
    this.library.decoded(slice);
  }

  /** A context was made: one of the same address is no more. */
  made(slice: Slice): void {
    this.#contexts.made(slice);
    this.#first(slice.track.pid).made(slice);
  }

  #first(pid: number): FirstToken {
    let first = this.#firsts.get(pid);
    if (!first) this.#firsts.set(pid, first = new FirstToken(pid, this.#contexts));
    return first;
  }

  #process(pid: number, start: Ns): Process {
    let process = this.#processes.get(pid);
    if (!process) this.#processes.set(pid, process = { firstStart: start, lastEnd: NaN });
    return process;
  }

  /** What comes next follows from nothing that was seen. */
  interrupt(): void {
    for (const process of this.#processes.values()) process.lastEnd = NaN;
    for (const first of this.#firsts.values()) first.interrupt();
    this.#contexts.interrupt();
  }

  sample(slice: Slice): void {
    this.#samplingCalls++;
    this.library.explains(slice);
    if (slice.open) return;
    this.#samplingNs += this.stopped.net(slice.track.pid, slice.start, slice.end);
    this.#firsts.get(slice.track.pid)?.sample(slice);
  }

  /** `operatorsOf`: asked where there are several contexts. */
  result(
    operatorsOf: (context: DecodeContext) => OperatorsResult["operators"],
  ): Pick<OperatorsResult, "tokens" | "rates" | "firstTokenNs" | "betweenTokens" | "contexts"> {
    const several = this.#contexts.count > 1;
    const told: OperatorsResult["contexts"] = [];
    const intervals = new Histogram(), sums: TokenSums = { ...NO_TOKENS };
    let [generatingNs, intervalTokens] = [0, 0];
    for (const pid of this.#processes.keys()) {
      // Of contexts at work at once, once.
      const generating = this.stopped.union([pid]), stoppedNs = generating.total;
      const guessers = this.#contexts.guessers(pid);
      for (const context of this.#contexts.all(pid)) {
        const guesses = guessers.has(context), { tokens } = context;
        const address = `0x${context.address.toString(16)}`;
        told.push({ pid, address, guesses, ...tokens, operators: several ? operatorsOf(context) : [] });
        if (guesses) continue;
        for (const key of Object.keys(sums) as (keyof TokenSums)[]) sums[key] += tokens[key];
        intervals.merge(context.intervals);
        generating.addAll(context.generating);
        intervalTokens += context.intervalTokens;
      }
      generatingNs += generating.total - stoppedNs;
    }
    told.sort((a, b) => b.prefillNs + b.decodeNs - a.prefillNs - a.decodeNs);
    const { prefillNs, decodeNs, ...tokens } = sums;
    return {
      tokens: { ...tokens, openCalls: this.#open, failedCalls: this.#failed },
      contexts: told,
      rates: {
        // Of calls: those with a prompt generate, too.
        prefillPerSecond: perSecond(tokens.prefill + tokens.besidePrompts, prefillNs),
        decodePerSecond: perSecond(tokens.decode - tokens.besidePrompts, decodeNs),
        generatedPerSecond: perSecond(intervalTokens, generatingNs),
      },
      firstTokenNs: this.#firstTokenNs(),
      betweenTokens: intervals.count === 0 ? null : {
        count: intervals.count,
        meanNs: intervals.mean!,
        p50Ns: intervals.quantile(0.5)!,
        p90Ns: intervals.quantile(0.9)!,
        p99Ns: intervals.quantile(0.99)!,
        maxNs: intervals.max,
      },
    };
  }

  time(): Pick<OperatorsResult["time"], "decodeNs" | "samplingNs" | "samplingCalls" | "betweenDecodesNs" | "betweenUnknownNs"> {
    const contexts = [...this.#processes.keys()].flatMap((pid) => this.#contexts.all(pid));
    return {
      decodeNs: contexts.reduce((sum, { tokens }) => sum + tokens.prefillNs + tokens.decodeNs, 0),
      samplingNs: this.#samplingNs,
      samplingCalls: this.#samplingCalls,
      betweenDecodesNs: this.#betweenNs,
      betweenUnknownNs: this.#betweenUnknownNs,
    };
  }

  /** Of the process that called first. */
  #firstTokenNs(): number | null {
    for (const [pid, { firstStart }] of this.#processes) {
      const first = this.#first(pid);
      // What nothing follows may have been embedded or scored.
      if (first.at !== undefined && first.promptSeen && first.basis !== "last call") return this.stopped.net(pid, firstStart, first.at);
    }
    return null;
  }
}

function perSecond(count: number, ns: number): number | null {
  return count > 0 && ns > 0 ? (count * 1e9) / ns : null;
}
