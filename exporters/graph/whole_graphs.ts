import { type GraphRow, takeGraph } from "../../lib/events/graph_row.ts";
import type { Slice, Track } from "../../lib/events/span.ts";

/** More operators than any graph has: where as many wait, no graph is seen to end. */
const MOST_PENDING = 131_072;

/** Gathers operators until their graph ends. */
export class WholeGraphs {
  /** By row: operators whose graph has not ended. */
  readonly #rows = new Map<Track, GraphRow<Slice>>();

  /** An operator. Returns its place: how many wait on its row before it. */
  add(slice: Slice): number {
    let row = this.#rows.get(slice.track);
    if (!row) this.#rows.set(slice.track, row = { pending: [] });
    if (row.pending.length === MOST_PENDING) row.pending = [];
    return row.pending.push(slice) - 1;
  }

  /** A graph has ended. Returns its operators in order; none where not all of it was seen, because a part of a graph is another graph. */
  end(graph: Slice): readonly Slice[] {
    const { ops } = takeGraph([...this.#rows].filter(([{ pid }]) => pid === graph.track.pid).map(([, row]) => row), graph);
    return graph.open || ops.some(({ open }) => open) ? [] : ops;
  }
}
