import type { Fact } from "../events/fact.ts";
import type { KernelFiles } from "../machine/files.ts";

/** Who traces, as facts: threads begin as there is work for them, and who watches turns has other bpftraces in each. */
export class WatchedTracers {
  readonly #processes = new Set<number>();
  readonly #threads = new Set<number>();
  #asked = 0;

  /** `pids`: the processes that trace, now. */
  constructor(readonly files: KernelFiles, readonly pids: () => readonly number[]) {}

  /** A look takes child processes: asked each second it looks ever more rarely, each half a minute in the end, or when another process traces. */
  async look(): Promise<Fact[]> {
    const pids = this.pids(), asked = ++this.#asked;
    const isDue = Number.isInteger(Math.log2(asked)) || asked % 30 === 0, isNew = pids.some((pid) => !this.#processes.has(pid));
    if (!isDue && !isNew) return [];
    for (const pid of pids) this.#processes.add(pid);
    const known = this.#threads.size;
    const found = await Promise.all(pids.map((pid) => this.files.list(`/proc/${pid}/task`)));
    for (const thread of found.flat()) this.#threads.add(Number(thread));
    return this.#threads.size > known ? [{ fact: "tracers", threads: [...this.#threads] }] : [];
  }
}
