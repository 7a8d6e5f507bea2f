import type { Instant, Slice } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import { SAMPLES_PER_SECOND } from "../programs/detail.ts";
import { type Phase, phaseOf, PHASES } from "./operator_sums.ts";
import type { SamplesResult } from "./samples_schema.ts";

/** Samples of one function. */
interface Row {
  readonly name: string;
  readonly work: string;
  readonly library: string;
  readonly samples: Record<Phase, number>;
}

interface Waiting {
  readonly at: Ns;
  readonly row: Row;
}

/** What waits is bounded: ten minutes of CPU time outside of every call. */
const MAX_WAITING = 65_536;
/** Standard deviations to either side in which 95 of 100 samples of a share lie. */
const DEVIATIONS = 1.96;

/**
 * Counts a timer's samples by function and by what it works on. A sample belongs to the `llama_decode` of its process that was under way, on whatever
 * thread: that ends later, so samples wait for it. Of calls that overlap, it belongs to the one that ended first.
 */
export class SampleLedger {
  readonly #rows = new Map<string, Row>();
  /** By process, in order of time. */
  readonly #waiting = new Map<number, Waiting[]>();

  sample({ at, name, args, track }: Instant): void {
    let waiting = this.#waiting.get(track.pid);
    if (!waiting) this.#waiting.set(track.pid, waiting = []);
    waiting.push({ at, row: this.#row(name, String(args?.work), String(args?.library)) });
    if (waiting.length > MAX_WAITING) settle(waiting.splice(0, MAX_WAITING / 2), "other");
  }

  decode(call: Slice): void {
    const { start, end, track } = call;
    const waiting = this.#waiting.get(track.pid);
    if (!waiting) return;
    const from = waiting.findLastIndex(({ at }) => at < start) + 1;
    const to = waiting.findLastIndex(({ at }) => at <= end) + 1;
    settle(waiting.splice(from, to - from), phaseOf(call));
  }

  /** Called once, at the end. */
  result(): SamplesResult {
    for (const waiting of this.#waiting.values()) settle(waiting.splice(0), "other");
    const rows = [...this.#rows.values()].map((row) => ({ ...row, count: total(row) }));
    const count = rows.reduce((sum, row) => sum + row.count, 0);
    const works = [...Map.groupBy(rows, ({ work }) => work)].map(([work, members]) => ({
      name: work,
      ...share(members.reduce((sum, row) => sum + row.count, 0), count),
      ...Object.fromEntries(PHASES.map((phase) => [phase, members.reduce((sum, { samples }) => sum + samples[phase], 0)])) as Record<Phase, number>,
    }));
    const functions = rows.map(({ name, work, library, samples, count: own }) => ({ name, work, library, ...share(own, count), ...samples }));
    return { perSecond: SAMPLES_PER_SECOND, count, works: works.sort(byCount), functions: functions.sort(byCount) };
  }

  #row(name: string, work: string, library: string): Row {
    // Instances of a template share their readable name, and work on different things.
    const key = `${name}\0${work}\0${library}`;
    let row = this.#rows.get(key);
    if (!row) this.#rows.set(key, row = { name, work, library, samples: { prefill: 0, decode: 0, other: 0 } });
    return row;
  }
}

function settle(samples: readonly Waiting[], phase: Phase): void {
  for (const { row } of samples) row.samples[phase]++;
}

function total({ samples }: Row): number {
  return PHASES.reduce((sum, phase) => sum + samples[phase], 0);
}

/** What so many of all samples say. `error`: Agresti and Coull's, which says something of shares near 0 and 1 too. */
export function share(samples: number, all: number): { samples: number; share: number; error: number } {
  const squared = DEVIATIONS ** 2;
  const likely = (samples + squared / 2) / (all + squared);
  return { samples, share: samples / all, error: DEVIATIONS * Math.sqrt(likely * (1 - likely) / (all + squared)) };
}

function byCount(a: { samples: number; name: string }, b: { samples: number; name: string }): number {
  return b.samples - a.samples || (a.name < b.name ? -1 : 1);
}
