import type { Args, Link, Track } from "../../lib/events/span.ts";
import type { Row } from "./rows.ts";

/** A slice whose arguments have been seen. */
export interface KnownSlice {
  readonly name: string;
  readonly category: string;
  readonly track: Track;
  /** The packet of its begin before its time, from the second time on. */
  readonly begin: Uint8Array | undefined;
  /** Where that stands, on a lane. */
  readonly row: Row | undefined;
}

/**
 * Slices of an operator differ in nothing but their times, and have one object of arguments: what was encoded for it is copied, which is
 * several times cheaper than to encode it again.
 */
export class KnownSlices {
  readonly #byArgs = new WeakMap<Args, KnownSlice>();

  /** What is known of a slice that says the same of itself. */
  get({ name, args }: Link, category: string, track: Track): KnownSlice | undefined {
    const known = args && this.#byArgs.get(args);
    return known?.track === track && known.name === name && known.category === category ? known : undefined;
  }

  set(args: Args, known: KnownSlice): void {
    this.#byArgs.set(args, known);
  }
}
