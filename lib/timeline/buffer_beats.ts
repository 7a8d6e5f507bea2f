import type { Ns } from "../events/time.ts";

/** No buffer is read so long after the others. A processor that has been silent for longer is switched off. */
const LAG_NS = 10e9;

/**
 * Heartbeats of a stream with a buffer for each processor. These are read one after another: while one is read, with all that bpftrace prints for
 * it, another may fill for longer than the heartbeats are apart. So the stream has promised only what every buffer has promised.
 */
export class BufferBeats {
  readonly #last = new Map<number, Ns>();
  #latest: Ns = -Infinity;
  #promised: Ns = -Infinity;

  constructor(readonly buffers: number) {}

  /** Returns before when nothing follows in any buffer; null where that is no later than was said before. */
  told(cpu: number, at: Ns): Ns | null {
    this.#last.set(cpu, at);
    if (at > this.#latest) this.#latest = at;
    const slowest = this.#last.size < this.buffers ? -Infinity : Math.min(...this.#last.values());
    const promised = Math.max(slowest, this.#latest - LAG_NS);
    if (!(promised > this.#promised)) return null;
    return this.#promised = promised;
  }
}
