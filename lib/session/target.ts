import type { Child } from "../machine/child.ts";

/** A target that ran before llmprof came. */
export interface RunningTarget {
  readonly type: "running";
  readonly pid: number;
  readonly argv: readonly string[];
  /** Everything that belongs to it besides what these fork. */
  readonly pids: readonly number[];
  /** All that run are meant. */
  readonly everybody?: true;
  /** A container's own PID namespace, see {@link Filter}. */
  readonly pidNamespace?: number;
}

export type Target =
  /** Started by us and standing before its first instruction. */
  | { readonly type: "launched"; readonly pid: number; readonly argv: readonly string[]; readonly child: Child; readonly program: string }
  | RunningTarget
  /** The next inference process that starts. */
  | { readonly type: "next" };
