import type { Instant } from "../events/span.ts";
import { firstIndex } from "../events/sorted.ts";
import type { Ns } from "../events/time.ts";
import { SAMPLES_PER_SECOND } from "../programs/detail.ts";
import type { Activity } from "./activity.ts";
import type { CodeSamples } from "./coldstart_schema.ts";
import { rank } from "./phase_kinds.ts";

/** What is kept is bounded: 44 minutes of CPU time. */
const MOST = 1 << 18;

/** Whose code ran when, by a timer's samples. */
export class RunningCode {
  readonly #samples: { readonly at: Ns; readonly pid: number; readonly code: string }[] = [];

  add({ at, track: { pid }, args }: Instant): void {
    if (this.#samples.length < MOST) this.#samples.push({ at, pid, code: String(args?.code) });
  }

  /** Those of these processes that lie in none of the activities which explain time. */
  unexplained(pids: ReadonlySet<number>, activities: readonly Activity[]): UnexplainedCode {
    const own = this.#samples.filter(({ pid }) => pids.has(pid)).sort((a, b) => a.at - b.at);
    const explaining = activities.filter((activity) => activity.end > activity.start && rank(activity) > 0);
    let next = 0, until = -Infinity;
    return new UnexplainedCode(own.filter(({ at }) => {
      // In the order of their beginnings.
      for (; next < explaining.length && explaining[next]!.start <= at; next++) until = Math.max(until, explaining[next]!.end);
      return at >= until;
    }));
  }
}

export class UnexplainedCode {
  /** In the order of time. */
  constructor(readonly samples: readonly { readonly at: Ns; readonly code: string }[]) {}

  /** By file, most first. */
  between(start: Ns, end: Ns): CodeSamples[] {
    const first = (from: Ns) => firstIndex(this.samples, ({ at }) => at >= from);
    const within = this.samples.slice(first(start), first(end));
    return [...Map.groupBy(within, ({ code }) => code)].map(([code, { length }]) => ({ code, samples: length })).sort((a, b) =>
      b.samples - a.samples
    );
  }
}

export function samplesOf(codes: readonly CodeSamples[]): number {
  return codes.reduce((sum, { samples }) => sum + samples, 0);
}

/** Fewer samples say nothing, nor does their want in a time in which there would hardly be more. */
const FEWEST = 3, SHORTEST_WAIT_NS = 0.25e9;
/** Whoever runs for less of a time waits for something. */
const WAITS = 0.1;

/** For a person: that hardly anything ran in a time of which these are the samples, or whose code most of them are in; undefined where they do not tell. */
export function whatRan(codes: readonly CodeSamples[], ns: number): string | undefined {
  const samples = samplesOf(codes), ran = samples / SAMPLES_PER_SECOND * 1e9 / ns;
  if (ns >= SHORTEST_WAIT_NS && ran < WAITS) return `it waits: nothing ran for ${Math.floor(100 - 100 * ran)} % of that`;
  const most = codes.find((code) => code.samples * 2 > samples);
  return most && samples >= FEWEST ? `mostly in ${most.code}` : undefined;
}
