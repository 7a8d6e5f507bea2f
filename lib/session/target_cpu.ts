import type { Event } from "../events/event.ts";
import type { Ns } from "../events/time.ts";
import { readProcesses, treesOf } from "../target/process.ts";
import type { Means } from "./means.ts";

export interface CpuReading {
  /** Nanoseconds of CPU time that the target has used. */
  readonly cpuNs: number;
  /** When it was read, in milliseconds of the monotonic clock; null when none of its processes was left. */
  readonly at: number | null;
}

/** What a target has used of the CPU, as far as its processes say while they live, and their threads when they end. */
export class TargetCpu {
  /** Nanoseconds by pid, of processes of which a thread has ended. */
  readonly #ended = new Map<number, number>();
  /** Nanoseconds by pid, when it was last looked at: what tells of its end may still be on its way when it is gone. */
  readonly #seen = new Map<number, number>();
  lastExit: Ns = NaN;

  /** `tree`: with what its processes have started. */
  constructor(readonly means: Means, readonly tree: boolean) {}

  /** A thread of the target has ended: its `process/life.exit`. */
  exited({ at, pid, values }: Event): void {
    const [, own, before] = values as readonly number[];
    this.#ended.set(pid, (this.#ended.get(pid) ?? before!) + own!);
    this.lastExit = at;
  }

  async read(pids: Iterable<number>): Promise<CpuReading> {
    const processes = await readProcesses(this.means.files);
    const alive = this.tree ? treesOf(processes, pids) : new Set([...pids].filter((pid) => processes.has(pid)));
    let cpuNs = 0;
    for (const pid of alive) this.#seen.set(pid, processes.get(pid)!.cpuSeconds * 1e9);
    for (const pid of new Set([...this.#seen.keys(), ...this.#ended.keys()])) {
      const seen = this.#seen.get(pid) ?? 0;
      cpuNs += alive.has(pid) ? seen : Math.max(seen, this.#ended.get(pid) ?? 0);
    }
    return { cpuNs, at: alive.size > 0 ? this.means.monotonic() : null };
  }
}

/** Nanoseconds of a second; 0 where it had ended at one of the two. */
export function cpuPerSecond(from: CpuReading, to: CpuReading): number {
  return from.at === null || to.at === null ? 0 : (to.cpuNs - from.cpuNs) / ((to.at - from.at) / 1000);
}
