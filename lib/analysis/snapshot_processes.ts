import type { SchedSnapshot } from "./snapshots_schema.ts";

/** Who has a number, or had it last. */
interface Holder {
  /** Counted from 1. */
  which: number;
  /** The last line that tells of it. */
  line: number;
}

/**
 * Processes of a file's lines, which tell of them by number. One that ended may have had the number of one that came later: that has another name, and
 * there are lines between that tell of neither. (By another name without a pause it is the same one, which became another program.)
 */
export class SnapshotProcesses {
  /** By number. */
  readonly #holders = new Map<string, Holder>();
  /** By number and which of those that had it, `12 1`: the name that was said last. */
  readonly #names = new Map<string, string>();
  #lines = 0;

  /** The next line, by number and which of those that had it. */
  of({ names = {}, ...line }: SchedSnapshot): SchedSnapshot {
    this.#lines++;
    for (const pid of new Set([...Object.keys(line.off_cpu_ns), ...Object.keys(line.page_faults)])) this.#told(pid, names[pid]);
    return keyed(line, (pid) => `${pid} ${this.#holders.get(pid)!.which}`);
  }

  /** The same line once all have come: by number and name. */
  named(line: SchedSnapshot): SchedSnapshot {
    return keyed(line, (key) => processKey(processOf(key).pid, this.#names.get(key) ?? null));
  }

  #told(pid: string, name: string | undefined): void {
    let holder = this.#holders.get(pid);
    if (!holder) this.#holders.set(pid, holder = { which: 1, line: this.#lines });
    const before = this.#names.get(`${pid} ${holder.which}`), hasPaused = holder.line < this.#lines - 1;
    if (hasPaused && name !== undefined && before !== undefined && name !== before) holder.which++;
    holder.line = this.#lines;
    if (name !== undefined) this.#names.set(`${pid} ${holder.which}`, name);
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
