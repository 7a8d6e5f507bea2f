import type { SchedSnapshot } from "./snapshots_schema.ts";

/**
 * Processes of a file's lines, which tell of them by number. Who has the number of one that ended is another one, and so is what a process became by
 * another program: sums are kept by number and name, `12 node`, and by number alone where nobody has said a name yet.
 */
export class SnapshotProcesses {
  /** By number: the name that was said last, and the first one. */
  readonly #last = new Map<string, string>();
  readonly #first = new Map<string, string>();

  /** The next line, by number and name. */
  of({ names = {}, ...line }: SchedSnapshot): SchedSnapshot {
    for (const [pid, name] of Object.entries(names)) {
      this.#last.set(pid, name);
      if (!this.#first.has(pid)) this.#first.set(pid, name);
    }
    return keyed(line, (pid) => processKey(pid, this.#last.get(pid) ?? null));
  }

  /** The same line once all have come: what a process did before somebody said its name. */
  named(line: SchedSnapshot): SchedSnapshot {
    return keyed(line, (key) => key.includes(" ") ? key : processKey(key, this.#first.get(key) ?? null));
  }
}

/** `name`: null where nobody knows it. */
export function processKey(pid: string, name: string | null): string {
  return name === null ? pid : `${pid} ${name}`;
}

export function processOf(key: string): { readonly pid: string; readonly name: string | null } {
  const blank = key.indexOf(" ");
  return blank < 0 ? { pid: key, name: null } : { pid: key.slice(0, blank), name: key.slice(blank + 1) };
}

function keyed(line: SchedSnapshot, keyOf: (key: string) => string): SchedSnapshot {
  const keyedSums = (sums: SchedSnapshot["off_cpu_ns"]) => {
    const all: Record<string, number> = {};
    for (const [key, value] of Object.entries(sums)) all[keyOf(key)] = (all[keyOf(key)] ?? 0) + value;
    return all;
  };
  return { ...line, off_cpu_ns: keyedSums(line.off_cpu_ns), page_faults: keyedSums(line.page_faults) };
}
