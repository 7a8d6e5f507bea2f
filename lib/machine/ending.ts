/**
 * What ends every wait of somebody who waits again and again, one time after another. `Promise.race` with a promise that lives long would leave something
 * of each wait with that promise, for as long as it is pending.
 */
export class Ending {
  isHere = false;
  #wake: () => void = () => {};

  constructor(end: Promise<unknown>) {
    void end.then(() => {
      this.isHere = true;
      this.#wake();
    });
  }

  /** Resolves with `wait`, or as soon as the end is here. */
  async or(wait: Promise<unknown>): Promise<void> {
    if (!this.isHere) await Promise.race([wait, new Promise<void>((resolve) => this.#wake = resolve)]);
  }
}
