import type { Instant } from "../events/span.ts";
import type { Ns } from "../events/time.ts";

/** The process whose start is looked at, and its descendants. A fork is known before anything that the child does. */
export class ProcessTree {
  readonly pids = new Set<number>();
  #root: number | undefined;
  #exec: Ns | undefined;
  file: string | undefined;

  /** Without `root`, the first process that calls exec. */
  constructor(root?: number) {
    this.#root = root;
    if (root !== undefined) this.pids.add(root);
  }

  instant({ category, track: { pid }, args, name, at }: Instant): void {
    if (category === "process.fork" && this.pids.has(pid)) this.pids.add(Number(args?.child));
    if (category !== "process.exec") return;
    this.#root ??= pid;
    if (pid !== this.#root) return;
    this.pids.add(pid);
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

  has(pid: number): boolean {
    return this.pids.has(pid);
  }
}
