import type { Ceilings } from "../machine/ceilings/ceilings.ts";
import type { BoundResult } from "./operators_schema.ts";

/** What calls asked of the machine: sums. */
export interface Demands {
  readonly totalNs: number;
  readonly bytes: number | null;
  readonly coldBytes: number | null;
  readonly flops: number | null;
  readonly quantisedFlops: number | null;
  readonly bf16Flops: number | null;
  /** Some of them were asked for less: how much less is not known. */
  readonly atMost: boolean;
  /** Some of what they read are experts that were chosen among more. */
  readonly chooses: boolean;
}

/** Of several calls; not `isAll`: what some of them ask for is not known. */
export interface ColdBytes {
  readonly bytes: number;
  /** And of the experts among which they chose. */
  readonly withAll: number;
  readonly isAll: boolean;
}

/**
 * Below this share of both ceilings neither is what holds the operator: it waits, or its code does more than it has to. Products of quantised weights at 57 %
 * of what memory gives were no faster with their weights in the cache.
 */
const NEAR = 0.7;

/** Whether what a graph reads is in the cache from the one before; null: nobody can tell. */
export interface InCache {
  readonly weights: boolean | null;
  /** Those that were chosen. */
  readonly experts: boolean | null;
}

/** Beyond this share of what was measured something else computes: tiles (AMX), which only some builds use. */
const MEASURED = 1.2;

/**
 * Whether cold bytes of a graph stay in the cache: null where these are not all that it has (`isAll`), and would; and where the threads have several caches,
 * which hold them together and not each. Which thread reads which rows changes from one product to the next (ggml hands them out), so that nobody knows
 * whether it finds them in its own. Of experts the next token may choose others: they are there where all are.
 */
export function staysInCache({ bytes, withAll, isAll }: ColdBytes, { cacheSize, cachesSize }: Ceilings): InCache {
  const weights = bytes > cachesSize ? false : (isAll && bytes <= cacheSize) || null;
  return { weights, experts: weights && withAll > cacheSize ? null : weights };
}

/**
 * The roofline of calls: which part of their time moving the bytes would take at least at the machine's ceilings, and which computing; the larger is what
 * binds them, and of moving what takes more of it, memory or the cache. Cold bytes come from memory where those of a graph do not fit into the cache
 * (`staysInCache`). Null where one of the two is not known, or only the most that it can be, or where more was computed than the machine was seen to.
 */
export function boundOf(demands: Demands, ceilings: Ceilings, inCache: InCache): BoundResult | null {
  const { totalNs, bytes, coldBytes, flops, quantisedFlops, bf16Flops, atMost, chooses } = demands;
  const fits = chooses ? inCache.experts : inCache.weights;
  if (bytes === null || coldBytes === null || flops === null || quantisedFlops === null || bf16Flops === null || atMost || totalNs <= 0) return null;
  if (fits === null && coldBytes > 0) return null;
  const { memoryBytes, cacheBytes } = ceilings;
  const cached = fits ? bytes : bytes - coldBytes;
  // Beside more that comes from memory it takes little.
  if (cacheBytes === null && 2 * cached > bytes) return null;
  const seconds = totalNs / 1e9;
  const fromMemory = (bytes - cached) / memoryBytes, fromCache = cached / (cacheBytes ?? Infinity);
  const moving = (fromMemory + fromCache) / seconds;
  const others = flops - quantisedFlops - bf16Flops;
  const computing = (others / ceilings.flops + quantisedFlops / ceilings.byteOperations + bf16Flops / ceilings.bf16Flops) / seconds;
  if (computing > MEASURED) return null;
  const by = Math.max(moving, computing) < NEAR ? "neither" : moving >= computing ? (fromMemory > fromCache ? "memory" : "cache") : "compute";
  return { by, moving, computing };
}
