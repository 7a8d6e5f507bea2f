import type { KernelFiles } from "../machine/files.ts";

/** What `/proc/PID/stat` says. */
export interface ProcessStat {
  readonly pid: number;
  /** Name of the main thread, at most 15 bytes. */
  readonly comm: string;
  /** One letter: `R`, `S`, `D`, `T` (stopped by a signal), `t` (by a debugger), `Z`, `X`. */
  readonly state: string;
  readonly ppid: number;
  /** Number of the device; 0 without one. */
  readonly terminal: number;
  /** CPU time that it has used, all threads together. */
  readonly cpuSeconds: number;
  readonly threads: number;
  /** Clock ticks after boot; with the pid it names a process for good. */
  readonly startTicks: number;
}

/** Null when the process is gone. */
export async function readStat(files: KernelFiles, pid: number): Promise<ProcessStat | null> {
  const text = await files.text(`/proc/${pid}/stat`);
  return text === null ? null : parseStat(text);
}

/**
 * Whether it runs no more, though nobody has waited for it yet: what it had mapped is gone. One whose main thread has ended while others go on looks alike
 * but for their number.
 */
export function isOver({ state, threads }: ProcessStat): boolean {
  return state === "Z" && threads < 2;
}

/** Whether it is gone, or {@link isOver}. */
export async function hasEnded(files: KernelFiles, pid: number): Promise<boolean> {
  const stat = await readStat(files, pid);
  return stat === null || isOver(stat);
}

/** Whether a process was started with SIGHUP ignored, as under `nohup`. */
export async function ignoresHangup(files: KernelFiles, pid: number): Promise<boolean> {
  const ignored = /^SigIgn:\s*([0-9a-f]+)$/m.exec(await files.text(`/proc/${pid}/status`) ?? "")?.[1] ?? "0";
  return (BigInt(`0x${ignored}`) & 1n) !== 0n;
}

export async function listPids(files: KernelFiles): Promise<number[]> {
  return (await files.list("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
}

/** Every process there is, in two child processes whatever their number. `before`: who was there then is told as it was. */
export async function readProcesses(files: KernelFiles, before: ReadonlyMap<number, ProcessStat> = new Map()): Promise<Map<number, ProcessStat>> {
  const pids = await listPids(files);
  const processes = new Map(pids.flatMap((pid) => before.get(pid) ?? []).map((stat) => [stat.pid, stat]));
  for (const text of await files.texts(pids.filter((pid) => !processes.has(pid)).map((pid) => `/proc/${pid}/stat`))) {
    const stat = text === null ? null : parseStat(text);
    if (stat) processes.set(stat.pid, stat);
  }
  return processes;
}

/** Kernel clock ticks a second in /proc/PID/stat: fixed at 100 for user space on every architecture. */
const TICKS = 100;

/** `1234 (a name (with) both) S 1 …`: the name ends at the last parenthesis. */
export function parseStat(text: string): ProcessStat | null {
  const open = text.indexOf("(");
  const close = text.lastIndexOf(")");
  if (open < 0 || close < open) return null;
  const fields = text.slice(close + 2).trimEnd().split(" ");
  if (fields.length < 20) return null;
  const field = (number: number) => Number(fields[number - 3]);
  return {
    pid: Number(text.slice(0, open)),
    comm: text.slice(open + 1, close),
    state: fields[0]!,
    ppid: field(4),
    terminal: field(7),
    cpuSeconds: (field(14) + field(15)) / TICKS,
    threads: field(20),
    startTicks: field(22),
  };
}

/** Program and arguments; empty for a kernel thread, null when the process is gone. */
export async function readCommandLine(files: KernelFiles, pid: number): Promise<string[] | null> {
  const text = await files.text(`/proc/${pid}/cmdline`);
  return text === null ? null : wordsOf(text);
}

/** Words of a command line. What lies behind a title that a program has written in their place, as vLLM's processes do, is zeros. */
export function wordsOf(commandLine: string): string[] {
  const words = splitZeros(commandLine);
  while (words.at(-1) === "") words.pop();
  return words;
}

/** The environment with which the process was started; null when it may not be read. */
export async function readEnvironment(files: KernelFiles, pid: number): Promise<Record<string, string> | null> {
  const text = await files.text(`/proc/${pid}/environ`);
  if (text === null) return null;
  const environment: Record<string, string> = {};
  for (const entry of splitZeros(text)) {
    const at = entry.indexOf("=");
    // The first of two entries with one name is the one that `getenv` finds.
    if (at > 0 && !Object.hasOwn(environment, entry.slice(0, at))) environment[entry.slice(0, at)] = entry.slice(at + 1);
  }
  return environment;
}

/** Fields that each end with a zero byte. */
export function splitZeros(text: string): string[] {
  return text === "" ? [] : text.replace(/\0$/, "").split("\0");
}

/** The process and everything below it, parents first. */
export function treeOf(processes: ReadonlyMap<number, ProcessStat>, root: number): number[] {
  return generationsOf(processes, root).flat();
}

/** Those of a tree by how many forks they are away from the root, which is the first; none where it is not there. */
export function generationsOf(processes: ReadonlyMap<number, ProcessStat>, root: number): number[][] {
  const children = Map.groupBy(processes.values(), (process) => process.ppid);
  // A set: between two reads a pid may have been used again, and then parents can form a circle.
  const seen = new Set<number>(), generations: number[][] = [];
  for (let next = processes.has(root) ? [root] : []; next.length > 0;) {
    generations.push(next);
    for (const pid of next) seen.add(pid);
    next = next.flatMap((pid) => children.get(pid) ?? []).map(({ pid }) => pid).filter((pid) => !seen.has(pid));
  }
  return generations;
}

/** All that belong to the trees of these. */
export function treesOf(processes: ReadonlyMap<number, ProcessStat>, roots: Iterable<number>): Set<number> {
  const all = new Set<number>();
  for (const root of roots) if (!all.has(root)) { for (const pid of treeOf(processes, root)) all.add(pid); }
  return all;
}

/** The process, its parent, and so on up. */
export function ancestorsOf(processes: ReadonlyMap<number, ProcessStat>, pid: number): number[] {
  const line: number[] = [];
  for (let at = processes.get(pid); at && !line.includes(at.pid); at = processes.get(at.ppid)) line.push(at.pid);
  return line;
}
