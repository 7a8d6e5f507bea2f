import type { Instant, Slice } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import { SAMPLES_PER_SECOND } from "../programs/detail.ts";
import { type Phase, phaseOf, PHASES } from "./operator_sums.ts";
import type { SamplesResult } from "./samples_schema.ts";
import { WaitingSamples } from "./waiting_samples.ts";

/** Samples of one function. */
interface Row {
  readonly name: string;
  readonly work: string;
  readonly library: string;
  readonly samples: Record<Phase, number>;
}

/** Standard deviations to either side in which 95 of 100 samples of a share lie. */
const DEVIATIONS = 1.96;

/**
 * Counts a timer's samples by function and by what it works on. A sample belongs to the `llama_decode` of its process that was under way, on whatever
 * thread: that ends later, so samples wait for it. Of calls that overlap, it belongs to the one that ended first.
 */
export class SampleLedger {
  readonly #rows = new Map<string, Row>();
  /** By process. */
  readonly #waiting = new Map<number, WaitingSamples<Row>>();

  sample({ at, name, args, track }: Instant): void {
    let waiting = this.#waiting.get(track.pid);
    if (!waiting) this.#waiting.set(track.pid, waiting = new WaitingSamples());
    waiting.add(at, this.#row(name, String(args?.work), String(args?.library)));
  }

  decode(call: Slice): void {
    const { start, end, track } = call;
    this.#settle(track.pid, start, end, phaseOf(call));
  }

  /** Called once, at the end. */
  result(): SamplesResult {
    for (const pid of this.#waiting.keys()) this.#settle(pid, -Infinity, Infinity, "other");
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

  #settle(pid: number, start: Ns, end: Ns, phase: Phase): void {
    for (const { row, count } of this.#waiting.get(pid)?.take(start, end) ?? []) row.samples[phase] += count;
  }

  #row(name: string, work: string, library: string): Row {
    // Instances of a template share their readable name, and work on different things.
    const key = `${name}\0${work}\0${library}`;
    let row = this.#rows.get(key);
    if (!row) this.#rows.set(key, row = { name, work, library, samples: { prefill: 0, decode: 0, other: 0 } });
    return row;
  }
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
