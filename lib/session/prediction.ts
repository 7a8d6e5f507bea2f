import type { Fact } from "../events/fact.ts";
import type { Calibration, HitCosts } from "../machine/calibration.ts";
import type { Tally } from "../timeline/tally.ts";

/** Hits of one kind of site. */
export interface Hits {
  /** The beginning of a site's cost: a class of {@link HitCosts}, `tracepoint`, or `shared`. */
  readonly cost: string;
  readonly count: number;
}

/** Nanoseconds of what is no trap of its own (a tracepoint, a site that is shared): there is no instruction to step over, and a record is sent. */
const RECORD_NS = 500;
/** Nanoseconds of a timer's interrupt with a record, where it is dear: 11 to 45 µs in a virtual machine, a tenth of that where nobody stands between. */
const TIMER_NS = 35_000;

/** What kind of thing an attach point is that no site was chosen for. */
export function costInKernel(attach: string): "timer" | "tracepoint" {
  return /^(profile|hardware):/.test(attach) ? "timer" : "tracepoint";
}

/** Nanoseconds of CPU time that hits cost the threads they happen in. */
export function costOfHits(hits: readonly Hits[], calibration: Calibration): number {
  return hits.reduce((sum, { cost, count }) => sum + count * hitCost(cost, calibration), 0);
}

/** Nanoseconds of one hit: `emulated`, `stepped and back`, `shared with its return and printed`. */
export function hitCost(cost: string, calibration: Calibration): number {
  const [name, ...more] = cost.split(" ");
  if (name === "timer") return TIMER_NS;
  const isTrap = name! in calibration && name !== "measured";
  const trap = isTrap ? calibration[name as keyof HitCosts] + (more.includes("back") ? calibration.back : 0) : RECORD_NS;
  return trap + (more.includes("printed") ? calibration.printed : 0);
}

/**
 * CPU time that tracing adds, over what the target uses without: of the CPU time that it was seen to use, the hits' part is not its own. Null
 * where it used none beside them.
 */
export function overheadOf(hitNs: number, cpuNs: number): number | null {
  return cpuNs > hitNs ? hitNs / (cpuNs - hitNs) : null;
}

/** What was received of each site that tells its hits, by its price; of one that only adds up operators, how many of these there were. */
export function hitsOf(facts: readonly Fact[], tallies: ReadonlyMap<string, Tally>, operators: number): Hits[] {
  return facts.flatMap((fact) => {
    if (fact.fact !== "program") return [];
    const seen = tallies.get(fact.stream)?.hits;
    return fact.sites.map(({ cost, records, among = 1, perOperator = 0 }) => ({
      cost,
      // Of several sites that send the same, each is taken for as busy as the others.
      count: Math.max(perOperator * operators, ...records.map((record) => (seen?.get(record) ?? 0) / among)),
    }));
  });
}
