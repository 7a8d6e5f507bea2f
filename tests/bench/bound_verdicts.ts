import type { BoundResult, OperatorsResult, PartResult } from "../../lib/analysis/operators_schema.ts";
import { judged } from "./judged.ts";

/** What was seen of an operator in one kind of call, in all rounds. */
export interface Verdict {
  readonly name: string;
  /** What each run alone said, in order; `not told` where that was nothing. */
  readonly by: readonly string[];
  /** How many times as long it took beside each of the two. */
  readonly reader: number;
  readonly multiplier: number;
}

/** Beside the reader. */
const LEAST_OF_MEMORY = 1.2, MOST_OF_COMPUTE = 1.05;
const MOST_OF_CEILING = 1.05;

/**
 * Which part of a ceiling calls came to, by what they computed and moved in their time: also where nothing is said to bind them, because they computed more
 * than the machine was seen to. Where bytes came from llmprof alone says; without that they came from the fastest that was measured. Null where not all of
 * that is known, or only the most that it can be.
 */
export function reached(part: PartResult, ceilings: OperatorsResult["ceilings"]): number | null {
  const { bound, totalNs, bytes, flops, quantisedFlops, bf16Flops, atMost } = part;
  if (!ceilings || bytes === null || flops === null || quantisedFlops === null || bf16Flops === null || atMost) return null;
  const { memoryBytes, cacheBytes, byteOperations } = ceilings;
  const others = flops - quantisedFlops - bf16Flops;
  const computing = others / ceilings.flops + quantisedFlops / byteOperations + bf16Flops / ceilings.bf16Flops;
  const moving = bytes / Math.max(memoryBytes, cacheBytes ?? Infinity);
  return Math.max(bound?.moving ?? 0, 1e9 * computing / totalNs, 1e9 * moving / totalNs);
}

/** What is wanted of what was told. `cached`: what was said of the same operators with weights that fit into the cache; `nearest`: the largest of `reached`. */
export function verdictsOf(told: readonly Verdict[], cached: (name: string) => BoundResult["by"] | undefined, nearest: number): string[] {
  const single = told.filter(({ by }) => by.length === 1), mixed = told.length - single.length;
  const claims = single.filter(({ by: [by] }) => by === "memory" || by === "compute");
  const lines = claims.flatMap(({ name, by: [by], reader }) => {
    const figure = `${name}, bound by ${by}: × ${reader.toFixed(3)} beside the reader`;
    if (by === "compute") return [judged(`${figure} (${MOST_OF_COMPUTE} at most)`, reader <= MOST_OF_COMPUTE)];
    const inCache = cached(name);
    return [
      judged(`${figure} (${LEAST_OF_MEMORY} at least)`, reader >= LEAST_OF_MEMORY),
      judged(`${name} with weights that fit the cache, bound by: ${inCache ?? "not told"}`, inCache !== undefined && inCache !== "memory"),
    ];
  });
  return [
    ...lines,
    judged(`${mixed} of ${told.length} were called bound by one thing in one round and by another in the next (none)`, mixed === 0 || null),
    judged(`${claims.length} of ${told.length} were called bound by memory or by computing (1 at least)`, claims.length > 0),
    judged(`the nearest to a ceiling: ${nearest.toFixed(3)} of it (${MOST_OF_CEILING} at most)`, nearest <= MOST_OF_CEILING),
  ];
}
