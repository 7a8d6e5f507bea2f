import type { Instant } from "../events/span.ts";
import type { Ns } from "../events/time.ts";

/** The process whose start is looked at, and its descendants. A fork is known before anything that the child does. */
export class ProcessTree {
  /** How many forks each is away from the root. */
  readonly #depths = new Map<number, number>();
  /** By child: whose it is, and since when. */
  readonly #forks = new Map<number, { readonly parent: number; readonly at: Ns }>();
  #root: number | undefined;
  #exec: Ns | undefined;
  file: string | undefined;

  /** Without `root`, the first process that calls exec. Of `tree`, its children, theirs, and so on from the beginning, nobody saw the forks. */
  constructor(root?: number, tree: readonly (readonly number[])[] = []) {
    this.#root = root;
    for (const [above, pids] of tree.entries()) for (const pid of pids) this.#depths.set(pid, above + 1);
    if (root !== undefined) this.#depths.set(root, 0);
  }

  instant({ category, track: { pid }, args, name, at }: Instant): void {
    const depth = this.#depths.get(pid);
    if (category === "process.fork" && depth !== undefined) {
      this.#depths.set(Number(args?.child), depth + 1);
      this.#forks.set(Number(args?.child), { parent: pid, at });
    }
    if (category !== "process.exec") return;
    this.#root ??= pid;
    if (pid !== this.#root) return;
    this.#depths.set(pid, 0);
    this.#exec ??= at;
    // A shell that starts the engine calls exec again in the same process: the last name is the engine's.
    this.file = name;
  }

  get root(): number | undefined {
    return this.#root;
  }

  /** The root's first exec. */
  get exec(): Ns | undefined {
    return this.#exec;
  }

  get pids(): ReadonlySet<number> {
    return new Set(this.#depths.keys());
  }

  has(pid: number): boolean {
    return this.#depths.has(pid);
  }

  /** When, after `since`, the first of a process and those above it was forked by one that is `depth` forks away from the root, or more. */
  forkedAfter(since: Ns, pid: number, depth: number): Ns | undefined {
    let first: Ns | undefined;
    for (let fork = this.#forks.get(pid); fork && fork.at > since && fork.at < (first ?? Infinity); fork = this.#forks.get(fork.parent)) {
      if (this.#depths.get(fork.parent)! < depth) break;
      first = fork.at;
    }
    return first;
  }

  /** Undefined where it is not in the tree. */
  depth(pid: number): number | undefined {
    return this.#depths.get(pid);
  }
}
