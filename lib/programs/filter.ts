const SIGCHLD = 17;

/** Which processes a program looks at. */
export type Filter =
  /** These processes and what they fork from now on (the program itself follows). */
  | {
    readonly type: "tree";
    readonly pids: readonly number[];
    /** Inode of a PID namespace: what starts a program in it belongs to the tree too, as `podman exec` does, which forks elsewhere. */
    readonly pidNamespace?: number;
  }
  /** All that run, these among them, and all that will. */
  | { readonly type: "everybody"; readonly pids: readonly number[] }
  /** Only these. */
  | { readonly type: "processes"; readonly pids: readonly number[] }
  /** Every process that was started after the program, or `since` then: ns of CLOCK_BOOTTIME. */
  | { readonly type: "new"; readonly since?: bigint };

/** The predicate that stands where a template says `FILTER`. `@w` is the window: events count only while it is open. */
export function filterPredicate({ type }: Filter): string {
  // A processor that is idle is nobody.
  if (type === "everybody") return "@w && pid != 0";
  return type === "new" ? "@w && curtask->group_leader->start_boottime > @start" : "@w && @tree[pid]";
}

/** Statements for `BEGIN`: what is there already. */
export function filterBegin(filter: Filter): string {
  if (filter.type === "new") return `@start = ${filter.since === undefined ? "nsecs" : `(uint64)${filter.since}`};`;
  if (filter.type === "everybody") return "";
  return filter.pids.map((pid) => `@tree[(uint32)${processId(pid)}] = 1;`).join(" ");
}

/**
 * The block that keeps `@tree`; `pid` is the parent here. Threads (CLONE_THREAD) are no members of their own. An id is removed when it is
 * used again outside of the tree, not at exit, where other blocks still ask for it and the order of programs on one tracepoint is not ours.
 */
export function filterBlocks(filter: Filter): string[] {
  if (filter.type !== "tree") return [];
  return [
    // Each field is read once, into a variable: 0.17 may merge two reads into one pointer that the kernel's verifier refuses.
    "tracepoint:task:task_newtask { $child = (uint32)args->pid; $flags = args->clone_flags; if (($flags & 0x10000) == 0) { " +
    "if (@tree[pid]) { @tree[$child] = 1; } else if (@tree[$child]) { delete(@tree[$child]); } } }",
    ...(filter.pidNamespace === undefined ? [] : [
      `tracepoint:sched:sched_process_exec /curtask->nsproxy->pid_ns_for_children->ns.inum == ${filter.pidNamespace}/ { @tree[pid] = 1; }`,
    ]),
  ];
}

/**
 * Statements by which a program is told who belongs to the tree, too: what was forked before it was attached it has not seen. Whoever sends SIGCHLD to the
 * bpftrace (`ours`, where `$signal` is sent to it) names them by a signal that is none, one after another, until it sends the next SIGCHLD (`others`, where
 * `$signal` is sent to whomever, `$to`). See session/members.ts.
 */
export function filterTold(filter: Filter): { readonly ours: readonly string[]; readonly others: readonly string[] } {
  if (filter.type !== "tree") return { ours: [], others: [] };
  return {
    ours: [`if ($signal == ${SIGCHLD}) { @teller = @teller == (uint32)pid ? (uint32)0 : (uint32)pid; }`],
    others: ["if ($signal == 0 && @teller == (uint32)pid) { @tree[(uint32)$to] = 1; }"],
  };
}

function processId(pid: number): number {
  if (!Number.isSafeInteger(pid) || pid < 0) throw new Error(`no process id: ${pid}`);
  return pid;
}
