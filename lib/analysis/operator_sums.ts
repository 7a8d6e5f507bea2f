import type { Args, OperatorSum, Slice } from "../events/span.ts";
import type { ColdBytes, Demands } from "./bound.ts";
import { Histogram } from "./histogram.ts";
import { imbalanceOf } from "./imbalance.ts";
import type { BoundResult, OperatorSumsResult, PartResult } from "./operators_schema.ts";

/** In what kind of call a graph was computed. */
export const PHASES = ["prefill", "decode", "other"] as const;
export type Phase = (typeof PHASES)[number];

/** Of a `llama_decode`. */
export function phaseOf({ args }: Pick<Slice, "args">): "prefill" | "decode" {
  return args?.phase === "decode" ? "decode" : "prefill";
}

interface Part {
  calls: number;
  timed: number;
  ns: number;
  /** What the latest timed calls asked for, one like the other, and how many of them are not in the sums below: a node asks for the same each time. */
  latest: CallDemand;
  unsummed: number;
  /** Of the timed calls; NaN as soon as that of one is not known. */
  bytes: number;
  coldBytes: number;
  /** Of those calls of which it is known. */
  knownColdBytes: number;
  knownColdAll: number;
  flops: number;
  quantisedFlops: number;
  bf16Flops: number;
  /** Calls whose demand is the most that it can be. */
  atMost: number;
  histogram: Histogram | undefined;
}

/** What one call asks of the machine; NaN where it is not known (see probes/ggml/demand.ts). */
export interface CallDemand {
  readonly bytes: number;
  readonly coldBytes: number;
  /** The same, or 0. */
  readonly knownColdBytes: number;
  /** With all experts of a mixture, or 0. */
  readonly knownColdAll: number;
  readonly flops: number;
  readonly quantisedFlops: number;
  readonly bf16Flops: number;
  /** 1 where these are the most that it can be, otherwise 0. */
  readonly atMost: number;
}

export function demandOf(args: Args | undefined): CallDemand {
  const bytes = Number(args?.bytes ?? NaN), flops = Number(args?.flops ?? NaN);
  // Absent where they are none.
  const coldBytes = bytes === bytes ? Number(args?.cold ?? 0) : NaN;
  return {
    bytes,
    coldBytes,
    knownColdBytes: coldBytes || 0,
    knownColdAll: Number(args?.coldAll ?? coldBytes) || 0,
    flops,
    quantisedFlops: args?.quantised ? flops : 0 * flops,
    bf16Flops: args?.bf16 ? flops : 0 * flops,
    atMost: args?.atMost ? 1 : 0,
  };
}

/** What so many calls, whose end was seen, asked for together. */
export function demandsOf(sums: CallDemand, totalNs: number, timed = 1): Demands {
  const known = (sum: number) => timed > 0 && sum === sum ? sum : null;
  return {
    totalNs,
    bytes: known(sums.bytes),
    coldBytes: known(sums.coldBytes),
    flops: known(sums.flops),
    quantisedFlops: known(sums.quantisedFlops),
    bf16Flops: known(sums.bf16Flops),
    atMost: sums.atMost > 0,
    chooses: sums.knownColdAll > sums.knownColdBytes,
  };
}

/** What binds calls, of one phase or of all; null where nobody can tell. */
export type Judge = (demands: Demands, phase?: Phase) => BoundResult | null;

/** What all rows are measured by. */
export interface Measures {
  /** What shares are shares of. */
  readonly graphNs: number;
  readonly seesWaits: boolean;
  /** Calls were told one by one. */
  readonly seesEach: boolean;
  readonly judge: Judge;
}

/** Sums of one node, or of one row: an operator, a layer or a kind of tensor. */
export class OperatorSums {
  readonly #parts: Readonly<Record<Phase, Part>> = { prefill: part(), decode: part(), other: part() };
  #open = 0;
  /** Of worker 0, waiting for others at barriers. */
  #waitNs = 0;
  #othersNs = 0;
  #othersWaitNs = 0;

  /** `ns`: NaN for a call whose end was not seen. */
  add(phase: Phase, ns: number, waitNs: number, demand: CallDemand): void {
    const part = this.#parts[phase];
    part.calls++;
    if (ns !== ns) {
      this.#open++;
      return;
    }
    part.timed++;
    part.ns += ns;
    if (waitNs > 0) this.#waitNs += waitNs;
    if (part.latest !== demand) follow(part, demand);
    part.unsummed++;
    (part.histogram ??= new Histogram()).add(ns);
  }

  /** Calls that somebody else has added up: how long each took is not known. */
  addSum(phase: Phase, { calls, timed, ns }: OperatorSum, demand: CallDemand): void {
    const part = this.#parts[phase];
    part.calls += calls;
    part.timed += timed;
    part.ns += ns;
    this.#open += calls - timed;
    if (part.latest !== demand) follow(part, demand);
    part.unsummed += timed;
  }

  /** All calls of another one, too. */
  merge(other: OperatorSums): void {
    for (const phase of PHASES) mergePart(this.#parts[phase], other.#parts[phase]);
    this.#open += other.#open;
    this.#waitNs += other.#waitNs;
    this.#othersNs += other.#othersNs;
    this.#othersWaitNs += other.#othersWaitNs;
  }

  /** The same call on another worker. */
  addOther(ns: number, waitNs: number): void {
    this.#othersNs += ns;
    this.#othersWaitNs += waitNs;
  }

  /** Time that belongs to no call. */
  addTime(phase: Phase, ns: number): void {
    this.#parts[phase].ns += ns;
  }

  /** Of all calls, or of those of a phase. */
  coldBytes(phases: readonly Phase[] = PHASES): ColdBytes {
    const parts = phases.map((phase) => summed(this.#parts[phase]));
    return {
      bytes: parts.reduce((sum, { knownColdBytes }) => sum + knownColdBytes, 0),
      withAll: parts.reduce((sum, { knownColdAll }) => sum + knownColdAll, 0),
      isAll: parts.every(({ coldBytes }) => !Number.isNaN(coldBytes)),
    };
  }

  /** Time of all calls, and what belongs to none. */
  get ns(): number {
    return PHASES.reduce((sum, phase) => sum + this.#parts[phase].ns, 0);
  }

  get isEmpty(): boolean {
    return PHASES.every((phase) => this.#parts[phase].calls === 0 && this.#parts[phase].ns === 0);
  }

  result({ graphNs, seesWaits, seesEach, judge }: Measures): OperatorSumsResult {
    const all = part();
    for (const phase of PHASES) mergePart(all, this.#parts[phase]);
    const { prefill, decode, other } = this.#parts;
    return {
      ...partResult(all, seesEach, judge),
      openCalls: this.#open,
      share: graphNs > 0 ? all.ns / graphNs : null,
      othersNs: this.#othersNs,
      waitNs: seesWaits ? this.#waitNs : null,
      othersWaitNs: seesWaits ? this.#othersWaitNs : null,
      imbalance: seesWaits && this.#othersNs > 0 ? imbalanceOf(this.#waitNs + this.#othersWaitNs, all.ns + this.#othersNs) : null,
      prefill: partResult(prefill, seesEach, judge, "prefill"),
      decode: partResult(decode, seesEach, judge, "decode"),
      other: partResult(other, seesEach, judge, "other"),
    };
  }
}

const NOTHING: CallDemand = { bytes: 0, coldBytes: 0, knownColdBytes: 0, knownColdAll: 0, flops: 0, quantisedFlops: 0, bf16Flops: 0, atMost: 0 };

function part(): Part {
  return { calls: 0, timed: 0, ns: 0, latest: NOTHING, unsummed: 0, ...NOTHING, histogram: undefined };
}

/** Calls that ask for something else follow. */
function follow(part: Part, demand: CallDemand): void {
  summed(part).latest = demand;
}

/** The same part with all of its calls in the sums. */
function summed(part: Part): Part {
  const times = part.unsummed;
  part.unsummed = 0;
  if (times > 0) addDemand(part, part.latest, times);
  return part;
}

function mergePart(part: Part, other: Part): void {
  part.calls += other.calls;
  part.timed += other.timed;
  part.ns += other.ns;
  addDemand(part, summed(other), 1);
  if (other.histogram) (part.histogram ??= new Histogram()).merge(other.histogram);
}

function addDemand(part: Part, demand: CallDemand, times: number): void {
  const { bytes, coldBytes, knownColdBytes, knownColdAll, flops, quantisedFlops, bf16Flops, atMost } = demand;
  part.bytes += times * bytes;
  part.coldBytes += times * coldBytes;
  part.knownColdBytes += times * knownColdBytes;
  part.knownColdAll += times * knownColdAll;
  part.flops += times * flops;
  part.quantisedFlops += times * quantisedFlops;
  part.bf16Flops += times * bf16Flops;
  part.atMost += times * atMost;
}

function partResult(part: Part, seesEach: boolean, judge: Judge, phase?: Phase): PartResult {
  const { calls, timed, ns, histogram } = summed(part);
  const demands = demandsOf(part, ns, timed), { chooses: _, ...told } = demands;
  return {
    calls,
    meanNs: timed > 0 ? ns / timed : null,
    p50Ns: seesEach ? histogram?.quantile(0.5) ?? null : null,
    ...told,
    bound: judge(demands, phase),
  };
}
