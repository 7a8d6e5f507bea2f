import type { SchedSnapshot } from "./snapshots_schema.ts";
import { goesOn, type Interval, isBefore } from "./stretches.ts";

/** Who has a number until another process has it. */
interface Holder {
  /** That was said last. */
  name: string | undefined;
  /** The last line that told of it. */
  last: Interval;
}

/**
 * Processes of a file's lines, which tell of them by number. Who has the number of one that ended is another one: lines between tell of neither, and it
 * has another name. By the name alone it is not, for a process may rename itself or become another program; it is called by its last one.
 */
export class SnapshotProcesses {
  /** By number: who had it, one after the other. */
  readonly #holders = new Map<string, Holder[]>();

  /** The next line, by number and place among those who had it. */
  of({ names = {}, ...line }: SchedSnapshot): SchedSnapshot {
    const { timestamp, interval_s } = line;
    return keyed(line, (pid) => `${pid} ${this.#placeOf(pid, names[pid], { timestamp, interval_s })}`);
  }

  /** The same line once all have come, by number and name, `12 node`, or by number alone where nobody said a name. */
  named(line: SchedSnapshot): SchedSnapshot {
    return keyed(line, (key) => {
      const [pid, place] = key.split(" ") as [string, string];
      return processKey(pid, this.#holders.get(pid)![Number(place)]!.name ?? null);
    });
  }

  #placeOf(pid: string, name: string | undefined, line: Interval): number {
    const holders = this.#holders.get(pid) ?? [], holder = holders.at(-1);
    if (!holder || holder.name !== undefined && holder.name !== name && isApart(holder.last, line)) holders.push({ name, last: line });
    else {
      holder.name = name ?? holder.name;
      holder.last = line;
    }
    this.#holders.set(pid, holders);
    return holders.length - 1;
  }
}

/** Whether something lies between: a line, or time in which nothing was written. */
function isApart(line: Interval, next: Interval): boolean {
  return isBefore(line, next) && !goesOn(line, next);
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
