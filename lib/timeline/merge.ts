import type { Ns } from "../events/time.ts";

export interface Timed {
  readonly at: Ns;
}

/** One stream's way into the merge. */
export interface MergeInput<T extends Timed> {
  /** Returns whether it broke the stream's promise. */
  push(item: T): boolean;
  /** Promises that nothing older than `at` follows on this stream. */
  advance(at: Ns): void;
  /** Nothing follows at all. */
  close(): void;
}

/**
 * Merges streams by time. Items leave in the order of (time, stream's rank, arrival in the stream).
 *
 * When may an item leave? When no stream can still bring an older one: every open stream has promised so by {@link MergeInput.advance}. The
 * promise comes from the stream's own heartbeats, so the order depends on what the lines say and never on when they were read: a replay
 * gives the order of the live run. Memory is bounded by the longest silence of a live stream (a paused reader is silent for a second at
 * most; one that dies is closed).
 *
 * An item that breaks its stream's promise is put where the promise stood and keeps its own time.
 */
export class Merge<T extends Timed> {
  readonly #inputs: Queue<T>[] = [];

  constructor(readonly release: (item: T) => void) {}

  /** `rank` breaks ties between streams, the order of adding those between inputs of one rank; both must be the same in a replay. */
  input(rank: string, from: Ns = -Infinity): MergeInput<T> {
    const queue = new Queue<T>(rank, from);
    this.#inputs.push(queue);
    this.#inputs.sort((a, b) => (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0));
    return {
      push: (item) => queue.push(item),
      advance: (at) => {
        if (at <= queue.frontier) return;
        queue.frontier = at;
        this.#drain();
      },
      close: () => {
        queue.frontier = Infinity;
        this.#drain();
      },
    };
  }

  /** The stream that holds the others back: a replay reads that one next. */
  slowest(): string | undefined {
    let slowest: Queue<T> | undefined;
    for (const queue of this.#inputs) if (queue.frontier < (slowest?.frontier ?? Infinity)) slowest = queue;
    return slowest?.rank;
  }

  /** All that is older has left. */
  get frontier(): Ns {
    let least = Infinity;
    for (const queue of this.#inputs) if (queue.frontier < least) least = queue.frontier;
    return least;
  }

  #drain(): void {
    const limit = this.frontier;
    while (true) {
      // Few streams, many items: a scan of the heads is cheaper than a heap.
      let first: Queue<T> | undefined;
      let others = limit;
      for (const queue of this.#inputs) {
        if (queue.headKey < (first?.headKey ?? Infinity)) {
          if (first && first.headKey < others) others = first.headKey;
          first = queue;
        } else if (queue.headKey < others) others = queue.headKey;
      }
      if (!first || first.headKey >= limit) break;
      // One stream brings most of the items: all of it that is older than what the others hold needs no other look.
      do this.release(first.shift()); while (first.headKey < others);
    }
    // A run that watches in turns has streams of its own for each.
    for (let i = this.#inputs.length - 1; i >= 0; i--) if (this.#inputs[i]!.isDone) this.#inputs.splice(i, 1);
  }
}

/** Items of one stream in order of time. Streams come nearly sorted, so an item looks for its place from the end. */
class Queue<T extends Timed> {
  #items: T[] = [];
  #keys: Ns[] = [];
  #head = 0;
  headKey = Infinity;

  constructor(readonly rank: string, public frontier: Ns) {}

  /** Nothing is left, and nothing follows. */
  get isDone(): boolean {
    return this.frontier === Infinity && this.headKey === Infinity;
  }

  /** Returns whether the item came too late for its own time. */
  push(item: T): boolean {
    const late = item.at < this.frontier;
    const key = late ? this.frontier : item.at;
    let place = this.#keys.length;
    while (place > this.#head && this.#keys[place - 1]! > key) place--;
    if (place === this.#keys.length) {
      this.#items.push(item);
      this.#keys.push(key);
    } else {
      this.#items.splice(place, 0, item);
      this.#keys.splice(place, 0, key);
    }
    this.headKey = this.#keys[this.#head]!;
    return late;
  }

  shift(): T {
    const item = this.#items[this.#head++]!;
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#keys = this.#keys.slice(this.#head);
      this.#head = 0;
    }
    this.headKey = this.#keys[this.#head] ?? Infinity;
    return item;
  }
}
