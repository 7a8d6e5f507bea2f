import type { Filter } from "../programs/filter.ts";
import { readCommandLine, readProcesses, treeOf } from "../target/process.ts";
import { rootOf } from "./election.ts";
import type { Means } from "./means.ts";
import type { Target } from "./target.ts";

/** Who belongs to a target. */
export class Members {
  #root: { readonly pid: number; readonly argv: readonly string[] } | undefined;
  /** Processes that belong to it, with what they fork: the root, and those that are no descendants of it, or not any more. */
  readonly #tops = new Set<number>();

  /** `tree`: with children. */
  constructor(readonly means: Means, readonly target: Target, readonly tree: boolean) {
    if (target.type === "next") return;
    this.#root = target;
    for (const pid of target.type === "running" ? target.pids : [target.pid]) this.#tops.add(pid);
  }

  /** The first process of the target; undefined while one is waited for that nobody has named. */
  get root(): { readonly pid: number; readonly argv: readonly string[] } | undefined {
    return this.#root;
  }

  get tops(): Iterable<number> {
    return this.#tops;
  }

  /** One more, whoever its parent is. */
  add(pid: number): void {
    this.#tops.add(pid);
  }

  /** The process is the first of the target that shows itself: its tree is the target. */
  async elect(pid: number): Promise<void> {
    const root = await rootOf(this.means.files, pid, this.means.self);
    this.add(root);
    this.#root = { pid: root, argv: await readCommandLine(this.means.files, root) ?? [] };
  }

  async now(): Promise<number[]> {
    if (!this.tree) return [...this.#tops];
    const processes = await readProcesses(this.means.files);
    return [...new Set([...this.#tops].flatMap((top) => treeOf(processes, top)))];
  }

  async filter(): Promise<Filter> {
    const { target } = this;
    if (!this.#root) return { type: "new" };
    const pids = await this.now();
    if (target.type === "running" && target.everybody) return { type: "everybody", pids };
    if (!this.tree) return { type: "processes", pids };
    return { type: "tree", pids, ...(target.type === "running" && target.pidNamespace !== undefined && { pidNamespace: target.pidNamespace }) };
  }
}
