import type { Fact } from "../events/fact.ts";
import type { KernelFiles } from "../machine/files.ts";

/** Who traces, as facts: threads begin as there is work for them, and who watches turns has other bpftraces in each. */
export class WatchedTracers {
  readonly #threads = new Set<number>();

  /** `pids`: the processes that trace, now. */
  constructor(readonly files: KernelFiles, readonly pids: () => readonly number[]) {}

  async look(): Promise<Fact[]> {
    const known = this.#threads.size;
    const found = await Promise.all(this.pids().map((pid) => this.files.list(`/proc/${pid}/task`)));
    for (const thread of found.flat()) this.#threads.add(Number(thread));
    return this.#threads.size > known ? [{ fact: "tracers", threads: [...this.#threads] }] : [];
  }
}
