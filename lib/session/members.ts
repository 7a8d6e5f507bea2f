import type { Filter } from "../programs/filter.ts";
import { generationsOf, type ProcessStat, readCommandLine, readProcesses, readStat, treesOf } from "../target/process.ts";
import { rootOf } from "./election.ts";
import type { Means } from "./means.ts";
import type { Target } from "./target.ts";

/** The first process of a target. */
interface Root {
  readonly pid: number;
  readonly argv: readonly string[];
  /** Of one that was elected: who belonged to its tree by then, its children first, then theirs, and so on. */
  readonly tree?: readonly (readonly number[])[];
}

/** Who belongs to a target. */
export class Members {
  #root: Root | undefined;
  /** Processes that belong to it, with what they fork: the root, and those that are no descendants of it, or not any more. */
  readonly #tops = new Set<number>();
  /** Every process, as it was read last. */
  #processes: ReadonlyMap<number, ProcessStat> = new Map();

  /** `tree`: with children. */
  constructor(readonly means: Means, readonly target: Target, readonly tree: boolean) {
    if (target.type === "next") return;
    this.#root = target;
    for (const pid of target.type === "running" ? target.pids : [target.pid]) this.#tops.add(pid);
  }

  /** The first process of the target; undefined while one is waited for that nobody has named. */
  get root(): Root | undefined {
    return this.#root;
  }

  /** With what these have forked they are all. Others come and go while this is kept. */
  get tops(): Iterable<number> {
    return this.#tops;
  }

  /** One more, whoever its parent is. */
  add(pid: number): void {
    this.#tops.add(pid);
  }

  /** The first stays: others may be below it when it has ended. */
  delete(pid: number): void {
    if (pid !== this.#root?.pid) this.#tops.delete(pid);
  }

  /** The process is the first of the target that shows itself: its tree is the target. */
  async elect(pid: number): Promise<void> {
    const root = await rootOf(this.means.files, pid, this.means.self);
    this.add(root);
    this.#processes = await readProcesses(this.means.files);
    const [, ...tree] = generationsOf(this.#processes, root);
    // Whoever stood between the two may have ended since: how many those were nobody knows any more.
    if (pid !== root && !tree.flat().includes(pid)) (tree[0] ??= []).push(pid);
    this.#root = { pid: root, argv: await readCommandLine(this.means.files, root) ?? [], tree };
  }

  async now(): Promise<number[]> {
    if (!this.tree) return [...this.#tops];
    return await this.#below(this.#tops);
  }

  /** Tells these bpftraces who has come since such were known; what one has forked before it was told is told next. See `filterTold`. */
  async tellNewcomers(known: readonly number[], bpftraces: readonly number[]): Promise<void> {
    const script = "kill -CHLD $1; kill -0 $2; kill -CHLD $1";
    const all = new Set(known);
    for (let tops: Iterable<number> = this.#tops;;) {
      // Whoever was there has not changed its parent for one of ours, and the program waits: to read a hundred processes takes ten milliseconds.
      const fresh = (await this.#below(tops, this.#processes)).filter((pid) => !all.has(pid));
      if (fresh.length === 0) return;
      const args = ["-c", script, "sh", bpftraces.join(" "), fresh.join(" ")];
      await this.means.spawn({ program: "/bin/sh", args, newSession: true }).status;
      for (const pid of fresh) all.add(pid);
      tops = fresh;
    }
  }

  /** Whether this process is there, or was when all were looked at last: of a tree that is when the last program had been attached. */
  async has(pid: number): Promise<boolean> {
    return this.tree ? this.#processes.has(pid) : await readStat(this.means.files, pid) !== null;
  }

  async filter(): Promise<Filter> {
    const { target } = this;
    if (!this.#root) return { type: "new" };
    const pids = await this.now();
    if (target.type === "running" && target.everybody) return { type: "everybody", pids };
    if (!this.tree) return { type: "processes", pids };
    return { type: "tree", pids, ...(target.type === "running" && target.pidNamespace !== undefined && { pidNamespace: target.pidNamespace }) };
  }

  async #below(tops: Iterable<number>, before?: ReadonlyMap<number, ProcessStat>): Promise<number[]> {
    this.#processes = await readProcesses(this.means.files, before);
    return [...treesOf(this.#processes, tops)];
  }
}
