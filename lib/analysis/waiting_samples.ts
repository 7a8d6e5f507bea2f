import type { Ns } from "../events/time.ts";

/** Samples of one kind that came together. */
interface Waiting<Row> {
  readonly at: Ns;
  readonly row: Row;
  readonly count: number;
}

/** So many are kept one by one: ten seconds of 64 threads. */
const MOST = 65_536;
/** Parts of each doubling of age that are told apart; fewer where these are too many. */
const PARTS = 64;

/**
 * Samples in order of time, until somebody takes those of a stretch. When they are too many, those of one kind that came at about the same time become one,
 * at the end of that time, which is the longer the longer ago it was, but a small part of what has passed since: whoever takes what came since a moment has
 * all of it, and not much more.
 */
export class WaitingSamples<Row> {
  #waiting: Waiting<Row>[] = [];
  /** More than that are put together. */
  #limit: number;

  constructor(readonly most = MOST) {
    this.#limit = most;
  }

  /** What is kept. */
  get size(): number {
    return this.#waiting.length;
  }

  add(at: Ns, row: Row): void {
    this.#waiting.push({ at, row, count: 1 });
    if (this.size <= this.#limit) return;
    for (let parts = PARTS; this.size > this.most / 2 && parts >= 1; parts /= 2) this.#merge(at, parts);
    // Of very many kinds more are left than there should be: each sample that comes would have all of them looked at again.
    this.#limit = Math.max(this.most, 1.5 * this.size);
  }

  /** Those of a stretch, by what was counted. */
  take(start: Ns, end: Ns): readonly Waiting<Row>[] {
    const from = this.#waiting.findLastIndex(({ at }) => at < start) + 1;
    const to = this.#waiting.findLastIndex(({ at }) => at <= end) + 1;
    return this.#waiting.splice(from, to - from);
  }

  #merge(now: Ns, parts: number): void {
    const together = Map.groupBy(this.#waiting, ({ at }) => Math.ceil(parts * Math.log2(1 + now - at)));
    this.#waiting = [...together.values()].flatMap((samples) => {
      const { at } = samples.at(-1)!;
      return [...Map.groupBy(samples, ({ row }) => row)].map(([row, same]) => ({ at, row, count: same.reduce((sum, { count }) => sum + count, 0) }));
    });
  }
}
