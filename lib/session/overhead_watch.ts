import type { Fact } from "../events/fact.ts";
import type { Ns } from "../events/time.ts";
import type { Calibration } from "../machine/calibration.ts";
import type { Timeline } from "../timeline/timeline.ts";
import type { Means } from "./means.ts";
import type { Decodes } from "./decodes.ts";
import type { CpuReading, TargetCpu } from "./target_cpu.ts";
import { costOfHits, type Hits, hitsOf, isInLibrary, overheadOf, sitesOf } from "./prediction.ts";

/** When the first prediction is told. */
const FIRST_MS = 1000;
/** A reader that stands still hands on what it has once a second: so long is waited for enough of it. */
const PATIENCE_MS = 2500, LOOK_MS = 100;
/** Less of the time that was traced says little about a rate. */
const ENOUGH_NS = 400e6;

export interface Prediction {
  readonly overhead: number;
  readonly hitsPerSecond: number;
}

/** How far a run has come. */
interface Moment extends CpuReading {
  /** Of all hits that are older than this: how many, and what they cost. */
  readonly until: Ns;
  readonly hits: number;
  readonly costNs: number;
}

/** Sets the hits of a run that goes on against the CPU time that its target uses. */
export class OverheadWatch {
  #start: CpuReading | undefined;
  #last: Prediction | null = null;

  /**
   * `facts`: what the run has told so far; the sites and their prices are among it. `seen`: what of its spans. `unpriced`: probes whose hits are not
   * predicted.
   */
  constructor(
    readonly means: Means,
    readonly calibration: Calibration,
    readonly cpu: TargetCpu,
    readonly facts: readonly Fact[],
    readonly seen: Pick<Decodes, "operators">,
    readonly unpriced: ReadonlySet<string>,
  ) {}

  /**
   * The run begins to count. Resolves a second after the first hit in a library (a program that has just been started loads its model first), or as
   * soon as there is enough to tell from; null when there is nothing to tell, or when `isOver` says that the run is.
   */
  async begun(pids: Iterable<number>, timeline: Timeline, isOver: () => boolean): Promise<Prediction | null> {
    const start = this.#start = await this.cpu.read(pids);
    // Ever more rarely: a server may do nothing for hours.
    for (let look = LOOK_MS; !isOver() && !this.#hits(timeline).some(isInLibrary); look = Math.min(2 * look, FIRST_MS)) await this.means.sleep(look);
    const since = latest(timeline) - timeline.start < ENOUGH_NS ? beginning(start, timeline) : await this.#moment(pids, timeline);
    const deadline = this.means.monotonic() + PATIENCE_MS;
    await this.means.sleep(FIRST_MS);
    while (!isOver() && latest(timeline) - since.until < ENOUGH_NS && this.means.monotonic() < deadline) await this.means.sleep(LOOK_MS);
    if (isOver()) return null;
    const now = await this.#moment(pids, timeline);
    // It ended meanwhile, perhaps before its first hit was read: how much of its time lies between the two is not known, and the end tells of all.
    return now.at === null ? null : this.#predict(since, now);
  }

  /** For the time since the run began to count; null when nothing can be told. */
  async predict(pids: Iterable<number>, timeline: Timeline): Promise<Prediction | null> {
    return this.#start ? this.#predict(beginning(this.#start, timeline), await this.#moment(pids, timeline)) : this.#last;
  }

  #predict(since: Moment, now: Moment): Prediction | null {
    // By rates: while the target runs, its time and the hits are not known up to one moment.
    const seconds = (now.until - since.until) / 1e9;
    const cpuSeconds = now.at === null || since.at === null ? seconds : (now.at - since.at) / 1000;
    if (!(seconds > 0)) return this.#last;
    const overhead = overheadOf((now.costNs - since.costNs) / seconds, (now.cpuNs - since.cpuNs) / cpuSeconds);
    if (overhead === null) return this.#last;
    return this.#last = { overhead, hitsPerSecond: (now.hits - since.hits) / seconds };
  }

  #hits(timeline: Timeline): Hits[] {
    return hitsOf(sitesOf(this.facts, (probe) => !this.unpriced.has(probe)), timeline, this.seen.operators);
  }

  async #moment(pids: Iterable<number>, timeline: Timeline): Promise<Moment> {
    const reading = await this.cpu.read(pids);
    const hits = this.#hits(timeline);
    const until = reading.at === null ? this.cpu.lastExit : latest(timeline);
    return { ...reading, until, hits: hits.reduce((sum, { count }) => sum + count, 0), costNs: costOfHits(hits, this.calibration) };
  }
}

/** When it was read, the line that says when counting began may still have been on its way. */
function beginning(start: CpuReading, timeline: Timeline): Moment {
  return { ...start, until: timeline.start, hits: 0, costNs: 0 };
}

function latest({ tallies }: Timeline): Ns {
  return Math.max(-Infinity, ...[...tallies.values()].map((tally) => tally.latest));
}
