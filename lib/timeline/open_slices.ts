import type { Args, Slice, SpanSink, Track } from "../events/span.ts";
import type { Ns } from "../events/time.ts";

interface Open {
  readonly track: Track;
  readonly name: string;
  readonly category: string;
  readonly start: Ns;
  readonly args: Args | undefined;
  depth: number;
}

/**
 * Pairs beginnings with ends. A key is what an end can know of its beginning: a thread and a function. A call that re-enters itself counts
 * as one, from its outermost entry to the return of that.
 */
export class OpenSlices {
  readonly #open = new Map<string, Open>();

  /** `nests`: the function may call itself; otherwise a second beginning means that an end was lost, and the first is closed as open. */
  begin(key: string, slice: Omit<Open, "depth">, out: SpanSink, nests = false): void {
    const open = this.#open.get(key);
    if (open && nests) {
      open.depth++;
      return;
    }
    if (open) out(closed(open, slice.start, undefined, true));
    this.#open.set(key, { ...slice, depth: 1 });
  }

  /** Emits the slice; an end without a beginning (the call was under way when the window opened) is none. Returns it for who needs to know. */
  end(key: string, at: Ns, out: SpanSink, args?: Args): Slice | undefined {
    const open = this.#open.get(key);
    if (!open || --open.depth > 0) return undefined;
    this.#open.delete(key);
    const slice = closed(open, at, args, false);
    out(slice);
    return slice;
  }

  has(key: string): boolean {
    return this.#open.has(key);
  }

  /** Closes what is still open and marks it so: inner ones began later and are emitted first. */
  closeAll(at: Ns, out: SpanSink): void {
    for (const open of [...this.#open.values()].reverse()) out(closed(open, at, undefined, true));
    this.#open.clear();
  }
}

function closed(open: Open, end: Ns, args: Args | undefined, isOpen: boolean): Slice {
  const { track, name, category, start } = open;
  const all = args ? { ...open.args, ...args } : open.args;
  return { type: "slice", track, name, category, start, end: Math.max(start, end), ...(all && { args: all }), ...(isOpen && { open: true }) };
}
