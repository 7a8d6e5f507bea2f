import type { CountedEvent, Instant } from "../events/span.ts";
import type { CountersResult } from "./operators_schema.ts";

type Sums = Map<CountedEvent, { samples: number; count: number }>;

/**
 * The rule of the paper that named this problem: few instructions per cycle and many misses of the last cache mean memory; many instructions and few misses
 * mean computing.
 */
const MEMORY = { ipc: 1, missRate: 0.01 }, COMPUTE = { ipc: 2, missRate: 0.005 };

/** Standard deviations to either side in which 95 of 100 counts lie. */
const DEVIATIONS = 1.96;

/** What the processor's counters told, by operator. */
export class CounterLedger {
  /** By operator; null: outside of every operator that was seen. */
  readonly #rows = new Map<string | null, Sums>();

  counted({ counted }: Instant): void {
    const { operator, event, count } = counted!;
    let row = this.#rows.get(operator);
    if (!row) this.#rows.set(operator, row = new Map());
    const sums = row.get(event);
    if (!sums) row.set(event, { samples: 1, count });
    else {
      sums.samples++;
      sums.count += count;
    }
  }

  /** Null where nothing was counted. */
  result(): CountersResult | null {
    if (this.#rows.size === 0) return null;
    const seen = new Set([...this.#rows.values()].flatMap((row) => [...row.keys()]));
    const rows = [...this.#rows].map(([operator, row]) => rowOf(operator, row, seen));
    return { method: "sampled", operators: rows.sort((a, b) => b.cycles - a.cycles) };
  }
}

function rowOf(operator: string | null, row: Sums, seen: ReadonlySet<CountedEvent>): CountersResult["operators"][number] {
  // An event that this processor does not count is not known; one that did not come is none.
  const count = (event: CountedEvent) => seen.has(event) ? row.get(event)?.count ?? 0 : null;
  const cycles = count("cycles") ?? 0, instructions = count("instructions") ?? 0;
  const references = count("cache references"), misses = count("cache misses");
  const samples = row.get("cycles")?.samples ?? 0;
  const ipc = cycles > 0 ? instructions / cycles : null;
  const missRate = references && misses !== null ? misses / references : null;
  return {
    name: operator,
    samples,
    cycles,
    instructions,
    ipc,
    ipcError: ipc === null ? null : ipc * DEVIATIONS * Math.sqrt(1 / samples + 1 / Math.max(1, row.get("instructions")?.samples ?? 0)),
    cacheReferences: references,
    cacheMisses: misses,
    missRate,
    branchMisses: count("branch misses"),
    stalledCycles: count("stalled cycles"),
    bound: ruleOf(ipc, missRate),
  };
}

/** Null where one of the two is not known. */
export function ruleOf(ipc: number | null, missRate: number | null): CountersResult["operators"][number]["bound"] {
  if (ipc === null || missRate === null) return null;
  if (ipc < MEMORY.ipc && missRate > MEMORY.missRate) return "memory";
  return ipc > COMPUTE.ipc && missRate < COMPUTE.missRate ? "compute" : "mixed";
}
