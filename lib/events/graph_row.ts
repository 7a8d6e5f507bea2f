import type { Ns } from "./time.ts";

interface Timed {
  readonly start: Ns;
  readonly end: Ns;
}

/** A row of worker 0: operators that wait for the end of their graph, in order: on a row, one begins where the one before it ends. */
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
  // They began and ended one after another: from the end, those of later graphs, then those of this one, then the rest.
  let end = all.length;
  while (end > 0 && all[end - 1]!.end > graph.end) end--;
  let first = end;
  while (first > 0 && all[first - 1]!.start >= graph.start) first--;
  best.pending = all.slice(end);
  return { ops: all.slice(first, end), before: all.slice(0, first) };
}
