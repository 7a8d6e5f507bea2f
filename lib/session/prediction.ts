import type { CodeFact, Fact, ProgramFact } from "../events/fact.ts";
import { holding } from "../events/sorted.ts";
import { type Calibration, type HitCosts, uncalibrated } from "../machine/calibration.ts";
import type { Tally } from "../timeline/tally.ts";
import type { Timeline } from "../timeline/timeline.ts";

/** What a run has been told so far. */
type Told = Pick<Timeline, "tallies" | "code">;

/** Hits of one kind of site. */
export interface Hits {
  /** The beginning of a site's cost: a class of {@link HitCosts}, `tracepoint`, or `shared`. */
  readonly cost: string;
  readonly count: number;
}

/** Nanoseconds of a tracepoint: there is no instruction to step over, and a record is sent. */
const RECORD_NS = 500;
/** What is left of an emulated hit without its trap: the entry of a function at whose return there is a trap as well (tests/bench/launches.ts). */
const WITHOUT_TRAP = 0.6;
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
  const hit = name === "shared" ? WITHOUT_TRAP * calibration.emulated : isTrap(name!) ? calibration[name] : RECORD_NS;
  return hit + (more.includes("back") ? calibration.back : 0) + (more.includes("printed") ? calibration.printed : 0);
}

/** The cost of a site, with what its hits pay for being printed where they are. */
export function priced(cost: string, isPrinted = false): string {
  return isPrinted ? `${cost} and printed` : cost;
}

function isTrap(name: string): name is keyof HitCosts {
  return name in uncalibrated && name !== "measured";
}

/**
 * CPU time that tracing adds, over what the target uses without: of the CPU time that it was seen to use, the hits' part is not its own. Null
 * where it used none beside them.
 */
export function overheadOf(hitNs: number, cpuNs: number): number | null {
  return cpuNs > hitNs ? hitNs / (cpuNs - hitNs) : null;
}

/** A hit of what the target itself calls, and not of what the kernel does for it anyway. */
export function isInLibrary({ cost, count }: Hits): boolean {
  return cost !== "tracepoint" && cost !== "timer" && count > 0;
}

/** The sites of some probes. */
export function sitesOf(facts: readonly Fact[], wants: (probe: string) => boolean): ProgramFact[] {
  return facts.flatMap((fact) => fact.fact === "program" ? [{ ...fact, sites: fact.sites.filter(({ probe }) => wants(probe)) }] : []);
}

/** What was received of each site that tells its hits, by its price; of one that only adds up operators, how many of these there were. */
export function hitsOf(facts: readonly Fact[], { tallies, code }: Told, operators: number): Hits[] {
  const programs = facts.filter((fact) => fact.fact === "program");
  // Most probes tell no function, and a process may have thousands.
  const isTold = programs.some(({ sites }) => sites.some(({ functions }) => functions));
  const known = isTold ? [...code.values()].flatMap(({ functions }) => functions).sort((a, b) => a.at - b.at) : [];
  // Operators are those of the whole run: each turn, life and copy of a library has sites of its own that saw some of them.
  const summing = Map.groupBy(programs.flatMap(({ sites }) => sites).filter(({ perOperator }) => perOperator !== undefined), ({ probe }) => probe);
  return programs.flatMap(({ stream, sites }) => {
    // Of the stream's own: another turn, or another copy of a library, has the same names again.
    const tally = tallies.get(stream);
    const seen = tally?.hits;
    const others = sites.filter(({ functions }) => !functions).map(({ probe, cost, records, among = 1, perOperator }): Hits => {
      // Of several sites that send the same, or nothing, each is taken for as busy as the others.
      const summed = perOperator === undefined ? 0 : perOperator * operators / summing.get(probe)!.length;
      return { cost, count: Math.max(summed, ...records.map((record) => (seen?.get(record) ?? 0) / among)) };
    });
    return [...others, ...hitsInFunctions(sites, tally, known)];
  });
}

/** Hits of sites whose records tell where they were. Two processes that have different code at one address are taken for one. */
function hitsInFunctions(sites: ProgramFact["sites"], tally: Tally | undefined, known: CodeFact["functions"]): Hits[] {
  const hits = new Map<string, number>();
  for (const [at, count] of tally?.places ?? []) {
    const name = holding(known, at)?.name;
    if (name !== undefined) hits.set(name, (hits.get(name) ?? 0) + count);
  }
  // Copies of a library in one program have the same names, too.
  const byCost = new Map<string, Set<string>>();
  for (const [cost, names] of sites.flatMap(({ functions = {} }) => Object.entries(functions))) {
    byCost.set(cost, new Set([...byCost.get(cost) ?? [], ...names]));
  }
  return [...byCost].map(([cost, names]) => ({ cost, count: [...names].reduce((sum, name) => sum + (hits.get(name) ?? 0), 0) }));
}
