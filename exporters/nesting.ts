import type { Slice, Track } from "../lib/events/span.ts";
import { Outermost } from "./outermost.ts";

/** How many slices of a track wait for one that encloses them. */
const window = 128;
/** And of all tracks together: a target may have ten thousand threads, and what waits is written again with every tail. */
const allWindows = 4096;
/** Of how many slices of a row the times are kept, to see whether a later one overlaps them: a request to a disk may outlast thousands. */
const known = 4096;
/** And of all rows together. */
const allKnown = 1 << 18;

/**
 * Puts slices into an order from which a reader can rebuild how they nest.
 *
 * Perfetto and Chrome sort by time and keep the order of the file where times are equal. A slice is emitted when it ends, an inner one before
 * the one around it, so where both begin in the same nanosecond the file would say that the outer one is inside: `library.load` begins with
 * the `file.open` of its file. And readers have one stack per track: of two slices that overlap without nesting, one would be cut short.
 *
 * So each track holds back its last {@link window} slices, fewer where there are very many tracks; a slice goes before those that begin with it and end
 * earlier, and one that overlaps any of the last {@link known} gets a row of its own. What is left: a slice without length at the very end of another one may
 * be drawn beside it.
 */
export class Nesting<S extends Slice = Slice> {
  readonly #rows = new Map<Track, Row<S>>();
  readonly #out: (slice: S, track: Track) => void;
  #held = 0;

  /** `out` gets each slice with the track to draw it on, which is its own unless it overlaps. */
  constructor(out: (slice: S, track: Track) => void) {
    this.#out = out;
  }

  /** Returns the track on which the slice will be drawn. */
  add(slice: S): Track {
    let row = this.#row(slice.track);
    let place = this.#place(row, slice);
    while (place < 0) {
      row = row.overflow ??= this.#row(overflowOf(slice.track, row.depth + 1), row.depth + 1);
      place = this.#place(row, slice);
    }
    if (place === row.held.length) row.held.push(slice);
    else row.held.splice(place, 0, slice);
    if (row.held.length > window) this.#release(row, window / 2);
    if (++this.#held > allWindows) { for (const each of this.#rows.values()) this.#release(each, Math.ceil(each.held.length / 2)); }
    return row.track;
  }

  /** Gives out what is held back of the track: nothing that comes encloses it. */
  release(track: Track): void {
    const row = this.#rows.get(track);
    if (row) this.#release(row, row.held.length);
  }

  /** Gives out what is held back, and goes on holding it. */
  show(): void {
    for (const { held, track } of this.#rows.values()) for (const slice of held) this.#out(slice, track);
  }

  /** Gives out what is held back. */
  flush(): void {
    for (const row of this.#rows.values()) this.#release(row, row.held.length);
  }

  /** Index among those that the row holds at which the slice belongs, or -1 where it overlaps one of the row. */
  #place({ held, outermost }: Row<S>, { start, end }: S): number {
    const relation = outermost.add(start, end, Math.min(known, allKnown / this.#rows.size));
    if (relation === "overlaps") return -1;
    if (relation === "last") return held.length;
    if (relation === "inside") return within(held, start, end);
    const first = held.findIndex((other) => other.start === start);
    return first < 0 ? held.length : first;
  }

  #row(track: Track, depth = 1): Row<S> {
    let row = this.#rows.get(track);
    if (!row) this.#rows.set(track, row = { track, depth, held: [], outermost: new Outermost(), overflow: undefined });
    return row;
  }

  #release(row: Row<S>, count: number): void {
    for (let i = 0; i < count; i++) this.#out(row.held[i]!, row.track);
    row.held.splice(0, count);
    this.#held -= count;
  }
}

interface Row<S> {
  readonly track: Track;
  /** 1 for the track itself, more for the rows beside it. */
  readonly depth: number;
  readonly held: S[];
  readonly outermost: Outermost;
  overflow: Row<S> | undefined;
}

/** The same for one that came after what encloses it: any of those that are held may be beside it in there. */
function within(held: readonly Slice[], start: number, end: number): number {
  let place = held.length;
  for (let i = held.length - 1; i >= 0; i--) {
    const other = held[i]!;
    if (other.start === start) {
      if (other.end < end) place = i;
    } else if (other.start < start ? other.end > start && other.end < end : other.start < end && other.end > end) return -1;
  }
  return place;
}

function overflowOf(track: Track, depth: number): Track {
  const name = track.kind === "thread" ? `${track.name} ${track.tid}` : track.name;
  return { id: -track.id, kind: track.kind === "run" ? "run" : "lane", name: `${name} (row ${depth})`, pid: track.pid, rank: track.rank ?? 0 };
}
