import type { Mark, Slice } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import type { GpuResult } from "./gpu_schema.ts";
import { Histogram } from "./histogram.ts";
import type { StoppedTimes } from "./stopped.ts";

/** Nobody who computes leaves a GPU alone for so long: a server between two requests does, and who loads a model. */
const PAUSE_NS = 0.5e9;

interface Process {
  readonly gaps: Histogram;
  pauses: number;
  pausesNs: number;
  /** From its first call to its last one; of this turn of watching, and of those before. */
  from: Ns;
  to: Ns;
  beforeNs: number;
}

/** Times in which processes left their GPUs without work, and how long they used them. */
export class GpuGaps {
  readonly #all = new Histogram();
  readonly #processes = new Map<number, Process>();
  #abandoned = 0;

  constructor(readonly stopped: StoppedTimes) {}

  mark({ kind }: Mark): void {
    if (kind !== "ended") return;
    // Until the next turn nobody watches.
    for (const [pid, process] of this.#processes) {
      process.beforeNs = this.#usedNs(pid, process);
      process.from = Infinity;
      process.to = -Infinity;
    }
  }

  /** A call of any kind, as it ends. */
  called(pid: number, start: Ns, end: Ns): void {
    const process = this.#of(pid);
    if (start < process.from) process.from = start;
    if (end > process.to) process.to = end;
  }

  /** A `gpu.gap`. */
  gap({ track: { pid }, start, end }: Slice): void {
    const process = this.#of(pid), ns = this.stopped.net(pid, start, end);
    if (ns >= PAUSE_NS) {
      process.pauses++;
      process.pausesNs += ns;
      return;
    }
    this.#all.add(ns);
    process.gaps.add(ns);
  }

  /** A `gpu.abandoned`. */
  abandoned(): void {
    this.#abandoned++;
  }

  result(): GpuResult["gaps"] {
    const processes = [...this.#processes].map(([pid, process]) => {
      const { gaps, pauses, pausesNs } = process;
      return { pid, count: gaps.count, ns: gaps.sum, longestNs: longestOf(gaps), usedNs: this.#usedNs(pid, process) - pausesNs, pauses, pausesNs };
    }).sort((a, b) => b.ns - a.ns || a.pid - b.pid);
    const gaps = this.#all;
    return { count: gaps.count, ns: gaps.sum, p50Ns: gaps.quantile(0.5) ?? 0, longestNs: longestOf(gaps), processes, abandoned: this.#abandoned };
  }

  #usedNs(pid: number, { beforeNs, from, to }: Process): number {
    return beforeNs + (to > from ? this.stopped.net(pid, from, to) : 0);
  }

  #of(pid: number): Process {
    let process = this.#processes.get(pid);
    if (!process) {
      const none = { pauses: 0, pausesNs: 0, from: Infinity, to: -Infinity, beforeNs: 0 };
      this.#processes.set(pid, process = { gaps: new Histogram(), ...none });
    }
    return process;
  }
}

function longestOf(gaps: Histogram): number {
  return gaps.count > 0 ? gaps.max : 0;
}
