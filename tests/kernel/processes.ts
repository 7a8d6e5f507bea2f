import { step } from "./awake.ts";

/** The process table, as the kernel shows it at this moment. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  /** `R`, `S`, `T` (stopped), `Z` … */
  readonly state: string;
  /** Its process group, and the one that its terminal listens to; -1 without a terminal. */
  readonly group: number;
  readonly foreground: number;
}

export function processTable(): ProcessRow[] {
  return [...Deno.readDirSync("/proc")].filter(({ name }) => /^\d+$/.test(name)).flatMap(({ name }) => row(Number(name)) ?? []);
}

/** One process, or undefined when it is gone. One that has ended and was not waited for is gone too. */
export function row(pid: number): ProcessRow | undefined {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    const end = stat.lastIndexOf(")");
    const [state, ...numbers] = stat.slice(end + 2).split(" ");
    const [parent, group, , , foreground] = numbers.map(Number) as [number, number, number, number, number];
    return state === "Z" ? undefined : { pid, parent, name: stat.slice(stat.indexOf("(") + 1, end), state: state!, group, foreground };
  } catch {
    return undefined;
  }
}

/** CPU time of its first thread so far; undefined when it is gone. */
export function onProcessorNs(pid: number): number | undefined {
  try {
    return Number(Deno.readTextFileSync(`/proc/${pid}/schedstat`).split(" ")[0]);
  } catch {
    return undefined;
  }
}

/** Whether a process maps a file of this name. One that is gone maps none. */
export function hasMapped(pid: number, path: string): boolean {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/maps`).includes(path);
  } catch {
    return false;
  }
}

/** Whether a process holds a BPF program, attached or not yet. One that is gone holds none. */
export function hasProgram(pid: number): boolean {
  try {
    return [...Deno.readDirSync(`/proc/${pid}/fd`)].some(({ name }) => Deno.readLinkSync(`/proc/${pid}/fd/${name}`) === "anon_inode:bpf-prog");
  } catch {
    // Or closed a file in the meantime.
    return false;
  }
}

/** The process and all its descendants that live. */
export function treeFrom(root: number): ProcessRow[] {
  const all = processTable();
  const pids = new Set([root]);
  // Parents may have higher numbers than their children.
  for (let before = 0; before !== pids.size;) {
    before = pids.size;
    for (const { pid, parent } of all) if (pids.has(parent)) pids.add(pid);
  }
  return all.filter(({ pid }) => pids.has(pid));
}

/** The bpftraces of a llmprof: its children of that name. */
export function bpftracesOf(llmprof: number): number[] {
  return processTable().filter(({ parent, name }) => parent === llmprof && name === "bpftrace").map(({ pid }) => pid);
}

/** Waits until something is there that nobody announces; throws when the machine has run for so long: by itself longer than anybody attaches or lets go. */
export async function until<T>(what: string, look: () => T | undefined | false, limitMilliseconds = 180_000): Promise<T> {
  for (let left = limitMilliseconds; left > 0; left -= (await step()).ran) {
    const found = look();
    if (found !== undefined && found !== false) return found;
  }
  throw new Error(`Waited ${limitMilliseconds} ms in vain: ${what}.`);
}

/** Interrupts a run until it has ended: what comes with its first signal is the first one again. */
export async function interruptedUntilGone(pid: number, interrupt: () => void): Promise<void> {
  await until("llmprof ends", () => row(pid) === undefined || void interrupt());
}
