import { Histogram } from "./histogram.ts";
import type { OperatorSumsResult, PartResult } from "./operators_schema.ts";

/** In what kind of call a graph was computed. */
export const PHASES = ["prefill", "decode", "other"] as const;
export type Phase = (typeof PHASES)[number];

interface Part {
  calls: number;
  timed: number;
  ns: number;
  /** Of the timed calls; NaN as soon as that of one is not known. */
  bytes: number;
  flops: number;
  histogram: Histogram | undefined;
}

/** Sums of one row: an operator, a layer or a kind of tensor. */
export class OperatorSums {
  readonly #parts: Readonly<Record<Phase, Part>> = { prefill: part(), decode: part(), other: part() };
  #open = 0;
  othersNs = 0;

  /** `bucket`: that of the duration in a {@link Histogram}; one call is added to several rows. `bytes`, `flops`: NaN where they are not known. */
  add(phase: Phase, ns: number, bucket: number, bytes: number, flops: number): void {
    const part = this.#parts[phase];
    part.calls++;
    part.timed++;
    part.ns += ns;
    part.bytes += bytes;
    part.flops += flops;
    (part.histogram ??= new Histogram()).add(ns, bucket);
  }

  /** A call whose end was not seen. */
  addOpen(phase: Phase): void {
    this.#parts[phase].calls++;
    this.#open++;
  }

  /** Time that belongs to no call. */
  addTime(phase: Phase, ns: number): void {
    this.#parts[phase].ns += ns;
  }

  get isEmpty(): boolean {
    return PHASES.every((phase) => this.#parts[phase].calls === 0 && this.#parts[phase].ns === 0);
  }

  /** `graphNs`: what shares are shares of. */
  result(graphNs: number): OperatorSumsResult {
    const all = part();
    for (const phase of PHASES) {
      const { calls, timed, ns, bytes, flops, histogram } = this.#parts[phase];
      all.calls += calls;
      all.timed += timed;
      all.ns += ns;
      all.bytes += bytes;
      all.flops += flops;
      if (histogram) (all.histogram ??= new Histogram()).merge(histogram);
    }
    const { prefill, decode, other } = this.#parts;
    return {
      ...partResult(all),
      openCalls: this.#open,
      share: graphNs > 0 ? all.ns / graphNs : null,
      othersNs: this.othersNs,
      prefill: partResult(prefill),
      decode: partResult(decode),
      other: partResult(other),
    };
  }
}

function part(): Part {
  return { calls: 0, timed: 0, ns: 0, bytes: 0, flops: 0, histogram: undefined };
}

function partResult({ calls, timed, ns, bytes, flops, histogram }: Part): PartResult {
  const ofTimed = (sum: number) => timed > 0 && sum === sum ? sum : null;
  return {
    calls,
    totalNs: ns,
    meanNs: timed > 0 ? ns / timed : null,
    p50Ns: histogram?.quantile(0.5) ?? null,
    bytes: ofTimed(bytes),
    flops: ofTimed(flops),
  };
}
