import type { Ns } from "../events/time.ts";

/** No buffer is read so long after the others. A processor that has been silent for longer is switched off. */
const LAG_NS = 10e9;

/**
 * Until when a stream with a buffer for each processor has told everything. Buffers are read one after another: while one is read, with all that
 * bpftrace prints for it, another may fill for longer than its heartbeats are apart. So the stream has promised only what every buffer has promised.
 *
 * A processor that is idle may have no heartbeats for seconds. Then another count helps: the kernel's own of the lines that it wrote into all buffers.
 * Where as many have come, none is on its way.
 */
export class BufferBeats {
  readonly #last = new Map<number, Ns>();
  #latest: Ns = -Infinity;
  #promised: Ns = -Infinity;
  #lines = 0;

  constructor(readonly buffers: number) {}

  /** A line has come that the kernel counts. */
  line(): void {
    this.#lines++;
  }

  /** Returns before when nothing follows in any buffer; null where that is no later than was said before. */
  told(cpu: number, at: Ns): Ns | null {
    this.#last.set(cpu, at);
    if (at > this.#latest) this.#latest = at;
    const slowest = this.#last.size < this.buffers ? -Infinity : Math.min(...this.#last.values());
    return this.#promise(Math.max(slowest, this.#latest - LAG_NS));
  }

  /** The kernel's count, read after every heartbeat that has come. Returns the same as {@link told}. */
  counted(lines: number): Ns | null {
    return lines === this.#lines ? this.#promise(this.#latest) : null;
  }

  #promise(at: Ns): Ns | null {
    if (!(at > this.#promised)) return null;
    return this.#promised = at;
  }
}
