import type { Ns } from "../events/time.ts";

/** A call that has ended. */
export interface Call {
  readonly name: string;
  readonly start: Ns;
  readonly end: Ns;
  /** How long it took: shorter than from start to end where it was held still. */
  readonly ns: number;
}

/**
 * Calls of one thread, told in the order in which they end: what a call made itself has ended before it. A call is inside of no other when one more
 * than `most` have ended behind it, or nothing follows.
 */
export class NestedCalls<C extends Call = Call> {
  /** Ended, and not yet known to be inside of another; later ones behind. */
  #waiting: C[] = [];
  /** Those before are outermost. */
  #head = 0;
  calls = 0;
  /** In outermost calls. */
  operatorsNs = 0;
  /** Between these. */
  betweenNs = 0;
  longestGapNs = 0;
  #lastEnd: Ns = NaN;

  /**
   * `nested` gets each call, behind the one that made it; null: none did. `outermost` gets those in their order, with the time since the one before
   * ended; NaN: nobody knows. `most`: so many calls may one call make itself. `net`: how long that was, as it is of a call.
   */
  constructor(
    readonly nested: (outer: C | null, inner: C) => void,
    readonly outermost: (call: C, gap: number) => void = () => {},
    readonly most = 65_536,
    readonly net: (start: Ns, end: Ns) => number = (start, end) => end - start,
  ) {}

  /** Returns how long the calls took that it made itself. */
  ended(call: C): number {
    this.calls++;
    let inside = 0;
    while (this.#waiting.length > this.#head && this.#waiting.at(-1)!.start >= call.start) {
      const inner = this.#waiting.pop()!;
      inside += inner.ns;
      this.nested(call, inner);
    }
    this.#waiting.push(call);
    if (this.#waiting.length - this.#head > this.most) this.#outermost();
    return inside;
  }

  /** What follows comes after a time that nobody watched. */
  interrupt(): void {
    this.end();
    this.#lastEnd = NaN;
  }

  /** Nothing follows. */
  end(): void {
    while (this.#head < this.#waiting.length) this.#outermost();
    this.#waiting = [];
    this.#head = 0;
  }

  #outermost(): void {
    const call = this.#waiting[this.#head++]!;
    const { start, end, ns } = call;
    this.nested(null, call);
    this.operatorsNs += ns;
    const gap = this.net(this.#lastEnd, start);
    if (gap > 0) this.betweenNs += gap;
    if (gap > this.longestGapNs) this.longestGapNs = gap;
    this.#lastEnd = end;
    this.outermost(call, gap);
    if (this.#head < this.most) return;
    this.#waiting = this.#waiting.slice(this.#head);
    this.#head = 0;
  }
}
