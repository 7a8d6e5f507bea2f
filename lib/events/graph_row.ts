import type { Ns } from "./time.ts";

interface Timed {
  readonly start: Ns;
  readonly end: Ns;
}

/** A row of worker 0: operators that wait for the end of their graph, in order. */
export interface GraphRow<Op extends Timed> {
  pending: Op[];
}

/**
 * Takes the operators of a graph that has ended: those on the row whose last one ended nearest to the graph's end. Other rows of the process hold graphs
 * that are computed at the same time, whose current operator has not ended. `before`: what waited on that row and belongs to no graph.
 */
export function takeGraph<Op extends Timed>(
  rows: Iterable<GraphRow<Op>>,
  graph: Timed,
): { readonly ops: readonly Op[]; readonly before: readonly Op[] } {
  let best: GraphRow<Op> | undefined;
  let bestEnd = -Infinity;
  for (const row of rows) {
    const last = row.pending.findLast((op) => op.end <= graph.end);
    if (!last || last.start < graph.start || last.end <= bestEnd) continue;
    best = row;
    bestEnd = last.end;
  }
  if (!best) return { ops: [], before: [] };
  const all = best.pending;
  best.pending = all.filter((op) => op.end > graph.end);
  const ended = all.filter((op) => op.end <= graph.end);
  return { ops: ended.filter((op) => op.start >= graph.start), before: ended.filter((op) => op.start < graph.start) };
}
