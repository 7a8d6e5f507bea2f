/** How far a stream has been read, for who has to wait for it. Times as in {@link PausableReader}. */
export class Reading {
  lastBeat = NaN;
  /** Of its lines. */
  latest = NaN;
  #awaited = Infinity;
  #arrived: () => void = () => {};

  /** A line of this time has come. */
  saw(at: number): void {
    // A record of another processor may be a little older.
    if (this.latest >= at) return;
    this.latest = at;
    if (at < this.#awaited) return;
    this.#awaited = Infinity;
    this.#arrived();
  }

  beat(at: number): void {
    this.lastBeat = at;
    this.saw(at);
  }

  /** Resolves when a line of this time or a later one has come. One waits at a time. */
  reached(at: number): Promise<void> {
    if (this.latest >= at) return Promise.resolve();
    this.#awaited = at;
    return new Promise((resolve) => this.#arrived = resolve);
  }
}
