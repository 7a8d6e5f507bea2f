import { usage } from "../events/errors.ts";
import type { KernelFiles } from "../machine/files.ts";
import { isHelper } from "../machine/guard.ts";
import { findContainer } from "./container.ts";
import { isOfInference } from "./inference_files.ts";
import { loadedBy } from "./loader.ts";
import { parseMaps } from "./maps.ts";
import { NoMatch } from "./no_match.ts";
import { harmless, shortened, textOf } from "../events/text.ts";
import { ancestorsOf, isOver, parseStat, type ProcessStat, readProcesses, treesOf, wordsOf } from "./process.ts";

/** How the user names a running target. */
export type Query =
  | { readonly by: "pid"; readonly pid: number }
  | { readonly by: "comm"; readonly comm: string }
  /** Tried on the command line with its arguments joined by blanks. */
  | { readonly by: "match"; readonly pattern: RegExp }
  /** Everything: the first process, and the kernel's own threads. */
  | { readonly by: "all" }
  /** Its name or the beginning of its id. */
  | { readonly by: "container"; readonly container: string };

export interface Candidate {
  readonly pid: number;
  readonly comm: string;
  readonly argv: readonly string[];
  /** Clock ticks after boot. */
  readonly startTicks: number;
}

/** A target with everything that belongs to it besides what its processes fork. */
export interface Found extends Candidate {
  /** Several for a container: not all of its processes descend from its first. */
  readonly pids: readonly number[];
  /** All that run are meant: the processes are the first of the machine's and of the kernel's. */
  readonly everybody?: true;
  /** Inode of the container's PID namespace, where it shares it with nobody. */
  readonly pidNamespace?: number;
}

type ByProcess = Extract<Query, { by: "comm" | "match" }>;

/** A name longer than the kernel keeps. */
const commLength = 15;
const mostListed = 20;

/**
 * The processes that a query means. llmprof itself, its ancestors and what it has started are none of them: the command line of the `sudo` above
 * holds the very pattern. Nor are the helpers of any llmprof, whose command lines hold names of libraries. Of a process and its descendants only the
 * uppermost counts, because the target is a tree.
 */
export async function findCandidates(files: KernelFiles, query: ByProcess, self: number): Promise<Candidate[]> {
  return await uppermost(files, self, (others, argvs) => others.filter((process) => matches(query, process, argvs.get(process.pid) ?? [])));
}

/** Processes that have mapped a model, or an engine's library. Only root is shown what those of others have. */
export async function findInference(files: KernelFiles, self: number): Promise<Candidate[]> {
  return await uppermost(files, self, async (others) => {
    const maps = await files.texts(others.map(({ pid }) => `/proc/${pid}/maps`));
    return others.filter((_, i) => parseMaps(maps[i] ?? "").some(({ path }) => isOfInference(path)));
  });
}

type Choose = (
  others: readonly ProcessStat[],
  argvs: ReadonlyMap<number, readonly string[]>,
) => readonly ProcessStat[] | Promise<readonly ProcessStat[]>;

async function uppermost(files: KernelFiles, self: number, choose: Choose): Promise<Candidate[]> {
  const processes = await readProcesses(files);
  const helpers = [...processes.values()].filter(({ comm }) => isHelper(comm)).map(({ pid }) => pid);
  const own = new Set([...ancestorsOf(processes, self), ...treesOf(processes, [self, ...helpers])]);
  const others = [...processes.values()].filter((process) => !own.has(process.pid) && !isOver(process));
  const argvs = await readCommandLines(files, others);
  const matching = new Set((await choose(others, argvs)).map(({ pid }) => pid));
  return [...matching].filter((pid) => !ancestorsOf(processes, pid).slice(1).some((ancestor) => matching.has(ancestor)))
    .sort((a, b) => a - b)
    .map((pid) => ({ pid, comm: processes.get(pid)!.comm, argv: argvs.get(pid) ?? [], startTicks: processes.get(pid)!.startTicks }));
}

/** The one process, or container, that a query means. Throws with exit code 2 when there is none, or several, which are then listed (unless the newest of them is meant). */
export async function findTarget(files: KernelFiles, query: Query, self: number, several: "mistake" | "newest" = "mistake"): Promise<Found> {
  if (query.by === "pid") {
    const found = await describe(files, query.pid);
    if (found) return found;
    const [status] = await files.texts([`/proc/${query.pid}/status`]);
    const [, process] = /^Tgid:\s*(\d+)$/m.exec(status ?? "") ?? [];
    if (process !== undefined && Number(process) !== query.pid) {
      throw usage(`${query.pid} is a thread of process ${process}.`, "Processes are traced as a whole.", `Try: --pid ${process}`);
    }
    throw usage(`There is no process ${query.pid}.`, "It has ended, or the number is another one.", "List what runs: ps -eo pid,comm,args");
  }
  if (query.by === "all") {
    const found = await describe(files, 1, [1, 2]);
    if (found) return { ...found, argv: ["everything"], everybody: true };
    throw usage("Nothing runs here that can be read.", "There is no process 1.", "Run it on the host.");
  }
  if (query.by === "container") {
    const { root, pids, others } = await findContainer(files, query.container);
    const found = await describe(files, root, pids);
    if (found) return { ...found, ...await ownNamespace(files, root, others) };
    throw new NoMatch(`No process of container ${query.container} is left.`, "It ended this moment.", "Wait for the next one with --wait.");
  }
  const found = await findCandidates(files, query, self);
  const [newest] = several === "newest" ? found.toSorted((a, b) => b.startTicks - a.startTicks) : [];
  if (newest) return { ...newest, pids: [newest.pid] };
  if (found.length === 1) return { ...found[0]!, pids: [found[0]!.pid] };
  const asked = query.by === "comm" ? `--comm ${query.comm}` : `--match ${query.pattern.source}`;
  if (found.length === 0) {
    throw new NoMatch(
      `No process matches ${asked}.`,
      "Nothing of that kind runs now.",
      "Wait for it with --wait, or list what runs: ps -eo pid,comm,args",
    );
  }
  throw usage(`${found.length} processes match ${asked}.`, "One of them has to be chosen.", `Choose one:\n${listCandidates(found)}`);
}

/** `pid:[4026532181]`, where it is nobody else's: a container may share that of the machine, or of another container, as those of a pod do. */
async function ownNamespace(files: KernelFiles, pid: number, others: readonly number[]): Promise<Pick<Found, "pidNamespace">> {
  const namespaceOf = (process: number | "self") => files.link(`/proc/${process}/ns/pid`);
  const its = await namespaceOf(pid);
  const inode = /^pid:\[(\d+)\]$/.exec(its ?? "")?.[1];
  if (inode === undefined) return {};
  // Each look is a child process, and a machine may have hundreds of containers.
  for (const other of ["self", ...others] as const) if (await namespaceOf(other) === its) return {};
  return { pidNamespace: Number(inode) };
}

/** Null when the process is gone, or is none. */
async function describe(files: KernelFiles, pid: number, pids: readonly number[] = [pid]): Promise<Found | null> {
  const [text, argv, status] = await files.texts([`/proc/${pid}/stat`, `/proc/${pid}/cmdline`, `/proc/${pid}/status`]);
  const stat = text == null ? null : parseStat(text);
  // A thread has such a folder, too.
  const isThread = status != null && !new RegExp(`^Tgid:\\s*${pid}$`, "m").test(status);
  return stat && !isThread && !isOver(stat) ? { pid, pids, comm: stat.comm, startTicks: stat.startTicks, argv: wordsOf(argv ?? "") } : null;
}

/** One line each, as the option to type. */
export function listCandidates(candidates: readonly Omit<Candidate, "startTicks">[]): string {
  const lines = candidates.slice(0, mostListed).map(({ pid, comm, argv }) => `  --pid ${pid}  ${shortened(harmless(argv.join(" ") || `[${comm}]`))}`);
  if (candidates.length > mostListed) lines.push(`  and ${candidates.length - mostListed} more`);
  return lines.join("\n");
}

function matches(query: ByProcess, process: ProcessStat, argv: readonly string[]): boolean {
  // The name of one that a loader was told to run is the loader's.
  if (query.by === "comm") return process.comm === cut(query.comm) || loadedBy(argv) === query.comm;
  // `search` and not `test`: it keeps no position in a pattern with the flag g.
  return argv.length > 0 && argv.join(" ").search(query.pattern) >= 0;
}

/** The kernel cuts a name after 15 bytes, perhaps inside a character. */
function cut(comm: string): string {
  return textOf(new TextEncoder().encode(comm).subarray(0, commLength));
}

async function readCommandLines(files: KernelFiles, processes: readonly ProcessStat[]): Promise<Map<number, string[]>> {
  const texts = await files.texts(processes.map(({ pid }) => `/proc/${pid}/cmdline`));
  return new Map(processes.map(({ pid }, i) => [pid, wordsOf(texts[i] ?? "")]));
}
