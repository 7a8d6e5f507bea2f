import type { Instant, Name } from "../events/span.ts";
import type { SystemCallsResult } from "./system_calls_schema.ts";
import { ThreadNames } from "./thread_name.ts";

interface Sums {
  calls: number;
  totalNs: number;
}

interface Thread extends Sums {
  readonly pid: number;
  readonly tid: number;
  readonly names: Map<string, Sums>;
}

/** Sums of the instants `process.syscalls`: one for each thread and call, and life of the target. */
export class SystemCalls {
  /** By process and thread: two processes may have had one thread's number, one after the other. */
  readonly #threads = new Map<string, Thread>();

  constructor(readonly threadNames = new ThreadNames()) {}

  name(span: Name): void {
    this.threadNames.name(span);
  }

  instant({ track: { pid }, args }: Instant): void {
    const { call, thread: tid, calls, ns } = args as { call: string; thread: number; calls: number; ns: number };
    const id = `${pid} ${tid}`;
    let thread = this.#threads.get(id);
    if (!thread) this.#threads.set(id, thread = { pid, tid, calls: 0, totalNs: 0, names: new Map() });
    const sums = thread.names.get(call) ?? { calls: 0, totalNs: 0 };
    thread.names.set(call, sums);
    for (const one of [thread, sums]) {
      one.calls += calls;
      one.totalNs += ns;
    }
  }

  /** Null where none was counted. */
  result(): SystemCallsResult | null {
    if (this.#threads.size === 0) return null;
    const threads = longest([...this.#threads.values()]);
    const names = new Map<string, Sums & { name: string; threads: number }>();
    for (const thread of threads) {
      for (const [name, { calls, totalNs }] of thread.names) {
        const all = names.get(name) ?? { name, calls: 0, totalNs: 0, threads: 0 };
        names.set(name, { name, calls: all.calls + calls, totalNs: all.totalNs + totalNs, threads: all.threads + 1 });
      }
    }
    return {
      calls: threads.reduce((sum, { calls }) => sum + calls, 0),
      totalNs: threads.reduce((sum, { totalNs }) => sum + totalNs, 0),
      names: longest([...names.values()]),
      threads: threads.map(({ names, ...thread }) => ({
        ...thread,
        name: this.threadNames.of(thread.pid, thread.tid),
        names: longest([...names].map(([name, sums]) => ({ name, ...sums }))),
      })),
    };
  }
}

function longest<Row extends Sums>(rows: readonly Row[]): Row[] {
  return rows.toSorted((a, b) => b.totalNs - a.totalNs || b.calls - a.calls);
}
