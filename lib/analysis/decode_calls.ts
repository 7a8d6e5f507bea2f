import type { Slice } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import { FirstToken } from "./first_token.ts";
import { Histogram } from "./histogram.ts";
import type { LibraryCalls } from "./library_calls.ts";
import { phaseOf } from "./operator_sums.ts";
import type { OperatorsResult } from "./operators_schema.ts";
import type { StoppedTimes } from "./stopped.ts";

interface Process {
  readonly first: FirstToken;
  readonly firstStart: Ns;
  lastEnd: Ns;
}

/**
 * Tokens and the calls that make them. Calls follow each other per process, not per thread, because engines call from whichever worker thread
 * is free; with several contexts at work at once an interval is the time until the process' next call.
 */
export class DecodeCalls {
  readonly #processes = new Map<number, Process>();
  readonly #intervals = new Histogram();
  readonly #tokens = { prefill: 0, decode: 0 };
  /** Generated in calls that have a prompt, too. */
  #besidePrompts = 0;
  readonly #calls = { prefill: 0, decode: 0 };
  readonly #ns = { prefill: 0, decode: 0 };
  #intervalTokens = 0;
  #open = 0;
  #failed = 0;
  #betweenNs = 0;
  #betweenUnknownNs = 0;
  #samplingNs = 0;
  #samplingCalls = 0;

  constructor(readonly stopped: StoppedTimes, readonly library: LibraryCalls) {}

  decode(slice: Slice): void {
    const phase = phaseOf(slice);
    const { pid } = slice.track;
    this.#calls[phase]++;
    let process = this.#processes.get(pid);
    if (!process) this.#processes.set(pid, process = { first: new FirstToken(), firstStart: slice.start, lastEnd: NaN });
    if (slice.open) {
      this.#open++;
      return;
    }
    process.first.decode(slice);
    if (Number(slice.args?.ret ?? 0) !== 0) {
      this.#failed++;
      this.library.explains(slice);
      return;
    }
    const tokens = Number(slice.args?.tokens ?? 0);
    const generated = phase === "decode" ? tokens : Number(slice.args?.generated ?? 0);
    this.#tokens[phase] += tokens;
    if (phase === "prefill") this.#besidePrompts += generated;
    this.#ns[phase] += this.stopped.net(pid, slice.start, slice.end);
    // Only before a call that generates: what lies before a prompt is the wait for the next request.
    if (generated > 0 && slice.end > process.lastEnd) {
      this.#intervals.add(this.stopped.net(pid, process.lastEnd, slice.end));
      this.#intervalTokens += generated;
      if (slice.start > process.lastEnd) {
        this.#betweenNs += this.stopped.net(pid, process.lastEnd, slice.start);
        this.#betweenUnknownNs += this.library.unexplained(pid, process.lastEnd, slice.start);
      }
    }
    process.lastEnd = slice.end;
    this.library.decoded(slice);
  }

  /** What comes next follows from nothing that was seen. */
  interrupt(): void {
    for (const process of this.#processes.values()) {
      process.lastEnd = NaN;
      process.first.interrupt();
    }
  }

  sample(slice: Slice): void {
    this.#samplingCalls++;
    this.library.explains(slice);
    if (slice.open) return;
    this.#samplingNs += this.stopped.net(slice.track.pid, slice.start, slice.end);
    this.#processes.get(slice.track.pid)?.first.sample(slice);
  }

  /** Nanoseconds inside closed `llama_decode` calls that succeeded. */
  get decodeNs(): number {
    return this.#ns.prefill + this.#ns.decode;
  }

  result(): Pick<OperatorsResult, "tokens" | "rates" | "firstTokenNs" | "betweenTokens"> {
    const { prefill, decode } = this.#tokens, besidePrompts = this.#besidePrompts;
    const intervals = this.#intervals;
    return {
      tokens: {
        prefill: prefill - besidePrompts,
        decode: decode + besidePrompts,
        besidePrompts,
        prefillCalls: this.#calls.prefill,
        decodeCalls: this.#calls.decode,
        openCalls: this.#open,
        failedCalls: this.#failed,
      },
      rates: {
        prefillPerSecond: perSecond(prefill, this.#ns.prefill),
        decodePerSecond: perSecond(decode, this.#ns.decode),
        generatedPerSecond: perSecond(this.#intervalTokens, intervals.sum),
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
    return {
      decodeNs: this.decodeNs,
      samplingNs: this.#samplingNs,
      samplingCalls: this.#samplingCalls,
      betweenDecodesNs: this.#betweenNs,
      betweenUnknownNs: this.#betweenUnknownNs,
    };
  }

  /** Of the process that called first. */
  #firstTokenNs(): number | null {
    for (const [pid, { first, firstStart }] of this.#processes) {
      if (first.at !== undefined && first.promptSeen) return this.stopped.net(pid, firstStart, first.at);
    }
    return null;
  }
}

function perSecond(count: number, ns: number): number | null {
  return count > 0 && ns > 0 ? (count * 1e9) / ns : null;
}
