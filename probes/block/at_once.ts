import type { Ns } from "../../lib/events/time.ts";

/** Of a part of the time, of this length, one figure is drawn. */
export const PART_NS = 10e6;
/** Ten seconds of parts wait for requests that are not answered yet: of one that takes longer what lies before them is in no figure. */
const WAITING = 1000;

/** How many requests a disk has at once, part by part: of each it is known when it is answered. */
export class AtOnce {
  /** Nanoseconds that requests were with the disk, by the number of a part. */
  readonly #parts = new Map<number, number>();
  /** The first part that may still grow, and the last one that is there. */
  #next = -Infinity;
  #last = -Infinity;
  #told = 0;

  /** `tell`: where a part begins of which the mean is another than that of the one before. */
  constructor(readonly tell: (at: Ns, requests: number) => void) {}

  /** Ends come in their order, beginnings do not. */
  add(from: Ns, to: Ns): void {
    const last = Math.floor(to / PART_NS);
    if (last > this.#last) this.#tellBefore(last - WAITING);
    this.#last = last;
    for (let part = Math.max(this.#next, Math.floor(from / PART_NS)); part <= last; part++) {
      const ns = Math.min(to, (part + 1) * PART_NS) - Math.max(from, part * PART_NS);
      this.#parts.set(part, (this.#parts.get(part) ?? 0) + ns);
    }
  }

  /** None is waited for any more. */
  end(): void {
    this.#tellBefore(this.#last + 1);
    if (this.#told > 0) this.tell(this.#next * PART_NS, this.#told = 0);
  }

  #tellBefore(end: number): void {
    for (; this.#next < end && (this.#parts.size > 0 || this.#told > 0); this.#next++) {
      const requests = (this.#parts.get(this.#next) ?? 0) / PART_NS;
      this.#parts.delete(this.#next);
      if (requests !== this.#told) this.tell(this.#next * PART_NS, this.#told = requests);
    }
    this.#next = Math.max(this.#next, end);
  }
}
