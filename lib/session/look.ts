import type { Fact } from "../events/fact.ts";
import type { Calibration } from "../machine/calibration.ts";
import { type Detail, detailsOf, probesOf, withOperators } from "../programs/detail.ts";
import type { Probe, SiteParam } from "../programs/probe.ts";
import { type Decode, Decodes } from "./decodes.ts";
import { groupByLibrary } from "./library_groups.ts";
import type { Means } from "./means.ts";
import { Members } from "./members.ts";
import { plannedSites } from "./planned_sites.ts";
import { type ProgramPart, siteKey } from "./program_part.ts";
import { costOfHits, type Hits, hitsOf, isInLibrary, overheadOf, sitesOf } from "./prediction.ts";
import type { RunningTarget } from "./target.ts";
import { cpuPerSecond, type CpuReading, TargetCpu } from "./target_cpu.ts";
import { unwrittenSession } from "./unwritten.ts";

const LOOK_MS = 1000;

export interface Look {
  /** What each detail would cost, dearest first; null where the target called nothing that is looked at, or used no CPU time. */
  readonly predicted: ReadonlyMap<Detail, number | null>;
  /** With next to nothing attached: what a measurement is compared with. */
  readonly decodes: readonly Decode[];
  /** bpftrace detaches slowly, and nobody has to wait for it. */
  readonly ended: Promise<void>;
}

export interface LookOptions {
  readonly tree: boolean;
  /** What was asked for: nothing more is looked at. */
  readonly detail: Detail;
  readonly bufferPages: number;
  /** Ends the look before its second is over. */
  readonly stop: Promise<unknown>;
}

/**
 * A second with the probes that are hit a few times for each token. How many operators a graph has is known from the graph, so the rate of the dear
 * probes is known before one of them is placed. Null when the target has not mapped what would be looked at.
 */
export async function lookAt(
  means: Means,
  target: RunningTarget,
  probes: readonly Probe[],
  calibration: Calibration,
  options: LookOptions,
): Promise<Look | null> {
  const details = detailsOf(probes, options.detail);
  // Operators are not placed to be looked at.
  const looked = details.find((detail) => !withOperators.includes(detail)) ?? details[0]!;
  // What every process may map, now or later, has a gate, and a look stops nobody.
  const atHand = probes.filter(({ library }) => !library?.each);
  const members = await new Members(means, target, options.tree).now();
  const libraries = await planned(means, members, probesOf(options.detail, atHand));
  if (!libraries) return null;
  const facts: Fact[] = [];
  const seen = new Decodes();
  const cpu = new TargetCpu(means, options.tree);
  let start: CpuReading, used = 0;
  const session = unwrittenSession(means, {
    target,
    tree: options.tree,
    probes: probesOf(looked, atHand),
    bufferPages: options.bufferPages,
    out: (span) => seen.span(span),
    onFact: (fact) => void facts.push(fact),
    conclude: async () => {
      used = cpuPerSecond(start, await cpu.read(target.pids));
      return [];
    },
  });
  const counted = session.counting.then(async () => {
    start = await cpu.read(target.pids);
    await means.sleep(LOOK_MS);
  });
  await session.run(Promise.race([counted, options.stop]));
  const { timeline } = session;
  if (!timeline) return null;
  const seconds = (timeline.end - timeline.start) / 1e9;
  const streams = new Map<Detail, readonly Hits[]>();
  for (const detail of details) {
    const names = new Set(probesOf(detail, probes).map(({ name }) => name));
    const told = sitesOf(facts, (probe) => names.has(probe));
    const operators = detail === looked ? [] : probesOf(detail, probes).flatMap(({ perOperator, params }) => {
      if (!perOperator) return [];
      const key = siteKey(params![perOperator.site] as SiteParam);
      const found = libraries.flatMap(({ sites }) => sites.get(key) ?? []);
      // Which copy of a library computes what is not known: each is taken for as busy as the others.
      return found.map(({ cost }) => ({ cost, count: perOperator.hits * seen.operators / found.length }));
    });
    const timers = detail === looked
      ? []
      : probesOf(detail, probes).flatMap(({ perSecond = 0 }) => ({ cost: "timer", count: perSecond * seconds * used / 1e9 }));
    streams.set(detail, [...hitsOf(told, timeline, seen.operators), ...operators, ...timers]);
  }
  const seenHits = streams.get(looked)!;
  // A server that nobody asks anything says nothing of what it will do.
  const isIdle = libraries.some(({ sites }) => sites.size > 0) && !seenHits.some(isInLibrary);
  // What the look itself cost is part of what the target used.
  const own = isIdle ? 0 : used - costOfHits(seenHits, calibration) / seconds;
  const predicted = new Map([...streams].map(([detail, hits]) => {
    const ns = costOfHits(hits, calibration) / seconds;
    return [detail, own > 0 ? overheadOf(ns, own + ns) : null] as const;
  }));
  return { predicted, decodes: seen.decodes, ended: session.ended() };
}

/** Where the probes would stand; null where a library is not there yet. */
async function planned(means: Means, pids: readonly number[], probes: readonly Probe[]): Promise<readonly ProgramPart[] | null> {
  const { planned, missing } = await plannedSites(means, groupByLibrary(probes), pids, false);
  return missing.length > 0 ? null : planned;
}
