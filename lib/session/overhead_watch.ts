import type { Fact } from "../events/fact.ts";
import type { Ns } from "../events/time.ts";
import type { Calibration } from "../machine/calibration.ts";
import { readProcesses, treeOf } from "../target/process.ts";
import type { Timeline } from "../timeline/timeline.ts";
import type { Means } from "./means.ts";
import { cpuSeconds } from "./own_cost.ts";
import { costOfHits, hitsOf, overheadOf } from "./prediction.ts";

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

/** Nanoseconds of CPU time that the target has used, and when that was read (milliseconds of the monotonic clock). */
interface Reading {
  readonly cpuNs: number;
  readonly at: number;
}

/** Sets the hits of a run that goes on against the CPU time that its target uses. */
export class OverheadWatch {
  #start: Reading | undefined;
  #last: Prediction | null = null;

  /** `facts`: what the run has told so far; the sites and their prices are among it. */
  constructor(readonly means: Means, readonly calibration: Calibration, readonly tree: boolean, readonly facts: readonly Fact[]) {}

  /** Resolves a second after the run began to count, or as soon as there is enough to tell; null when there is nothing to tell. */
  async begun(pids: readonly number[], timeline: Timeline): Promise<Prediction | null> {
    await this.start(pids);
    const deadline = this.means.monotonic() + PATIENCE_MS;
    await this.means.sleep(FIRST_MS);
    while (latest(timeline) - timeline.start < ENOUGH_NS && this.means.monotonic() < deadline) await this.means.sleep(LOOK_MS);
    return await this.predict(pids, timeline);
  }

  /** For the time since the run began to count. Where the target has ended, what was predicted while it ran. */
  async predict(pids: readonly number[], timeline: Timeline): Promise<Prediction | null> {
    const seconds = (latest(timeline) - timeline.start) / 1e9;
    if (!this.#start || !(seconds > 0)) return this.#last;
    const hits = hitsOf(this.facts, timeline.tallies);
    const overhead = overheadOf(costOfHits(hits, this.calibration) / seconds, await this.cpuPerSecond(pids));
    if (overhead === null) return this.#last;
    return this.#last = { overhead, hitsPerSecond: hits.reduce((sum, { count }) => sum + count, 0) / seconds };
  }

  async start(pids: readonly number[]): Promise<void> {
    this.#start = await this.#read(pids);
  }

  /** Nanoseconds a second since `start`. */
  async cpuPerSecond(pids: readonly number[]): Promise<number> {
    const end = await this.#read(pids);
    return this.#start ? (end.cpuNs - this.#start.cpuNs) / ((end.at - this.#start.at) / 1000) : 0;
  }

  async #read(pids: readonly number[]): Promise<Reading> {
    const seconds = this.tree ? await this.#treeSeconds(pids) : await Promise.all(pids.map((pid) => cpuSeconds(this.means.files, pid)));
    return { cpuNs: seconds.reduce((sum, each) => sum + each, 0) * 1e9, at: this.means.monotonic() };
  }

  async #treeSeconds(pids: readonly number[]): Promise<number[]> {
    const processes = await readProcesses(this.means.files);
    return [...new Set(pids.flatMap((pid) => treeOf(processes, pid)))].map((pid) => processes.get(pid)?.cpuSeconds ?? 0);
  }
}

function latest({ tallies }: Timeline): Ns {
  return Math.max(-Infinity, ...[...tallies.values()].map((tally) => tally.latest));
}
