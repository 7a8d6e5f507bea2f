import type { Ns } from "../../lib/events/time.ts";

/** A request that was answered: where it begins and ends, in sectors, when it was made, and when the answer came. */
export interface Answered {
  readonly begin: number;
  readonly end: number;
  readonly made: Ns;
  readonly at: Ns;
}

/** So many requests of a thread a disk may have at once. */
const MOST = 256;

/** Which requests of a thread, of one kind and to one disk, begin where one ends that was made before, in whatever order the disk answers. */
export class InARow {
  /** The last one, and those that were answered while a later one was under way; in the order of their answers. */
  readonly #recent: (Answered & { follows: boolean })[] = [];

  /** How many more such requests there are with this one: 2 where it fills a gap. */
  add(request: Answered): number {
    const { begin, end, made, at } = request, recent = this.#recent;
    while (recent.length > MOST || (recent.length > 1 && recent[0]!.at < made)) recent.shift();
    let follows = false, precedes = false;
    if (begin !== end) {
      for (const other of recent) {
        if (other.end === begin) follows ||= other.made <= made;
        else if (!precedes && other.begin === end && other.made >= made && !other.follows) other.follows = precedes = true;
      }
    }
    recent.push({ begin, end, made, at, follows });
    return Number(follows) + Number(precedes);
  }
}
