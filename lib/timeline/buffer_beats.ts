import type { Ns } from "../events/time.ts";

/** A processor that has been silent for so long beside the others is switched off, and brings nothing. */
const GONE_NS = 5e9;

/**
 * Heartbeats of a stream with a buffer for each processor. These are read one after another: while one is read, with all that bpftrace prints for
 * it, another may fill for longer than the heartbeats are apart. So the stream has promised only what every buffer has promised.
 */
export class BufferBeats {
  readonly #last = new Map<number, Ns>();
  #first: Ns = NaN;
  #latest: Ns = -Infinity;
  #promised: Ns = -Infinity;

  constructor(readonly buffers: number) {}

  /** Returns before when nothing follows in any buffer; null where that is no later than was said before, or some buffer has not been heard. */
  told(cpu: number, at: Ns): Ns | null {
    this.#last.set(cpu, at);
    if (!(this.#first <= at)) this.#first = at;
    if (at > this.#latest) this.#latest = at;
    const gone = this.#latest - GONE_NS;
    if (this.#last.size < this.buffers && this.#first > gone) return null;
    const promised = Math.min(...[...this.#last.values()].filter((last) => last > gone));
    if (!(promised > this.#promised)) return null;
    return this.#promised = promised;
  }
}
