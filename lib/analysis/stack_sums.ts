import type { OffCpu, SeenStack } from "../events/span.ts";
import type { SchedResult } from "./sched_schema.ts";

interface Sums {
  readonly reason: string;
  readonly call: string | null;
  readonly stack: number;
  times: number;
  ns: number;
}

/** Times off a processor, by how the thread came there. */
export class StackSums {
  readonly #sums = new Map<string, Sums>();
  readonly #frames = new Map<number, readonly string[]>();

  off({ reason, stack, ...off }: OffCpu, ns: number): void {
    if (stack === undefined) return;
    const call = off.call ?? null;
    const key = `${stack} ${reason} ${call}`;
    let sums = this.#sums.get(key);
    if (!sums) this.#sums.set(key, sums = { reason, call, stack, times: 0, ns: 0 });
    sums.times++;
    sums.ns += ns;
  }

  /** At the end. */
  told({ id, frames }: SeenStack): void {
    this.#frames.set(id, frames);
  }

  /** Null where no stack was told; threads and processes that came there alike are one. */
  result(): SchedResult["stacks"] {
    if (this.#frames.size === 0) return null;
    const alike = new Map<string, NonNullable<SchedResult["stacks"]>[number]>();
    for (const { reason, call, stack, times, ns } of this.#sums.values()) {
      const frames = [...this.#frames.get(stack) ?? []];
      const key = [reason, call, ...frames].join("\0");
      const before = alike.get(key) ?? { times: 0, ns: 0 };
      alike.set(key, { reason, call, frames, times: before.times + times, ns: before.ns + ns });
    }
    return [...alike.values()].sort((a, b) => b.ns - a.ns);
  }
}
