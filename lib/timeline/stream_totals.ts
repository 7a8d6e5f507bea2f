import type { Snapshot } from "../events/event.ts";

/** What programs count, of one probe: each counts from 0, and another turn, or another life of the target, has another program. */
export class StreamTotals {
  /** By stream and key. */
  readonly #counts = new Map<string, number>();
  /** By key. */
  readonly #totals = new Map<string, number>();

  /** What all of them have counted of a key, the latest count of one included. */
  add({ stream, key, value }: Pick<Snapshot, "stream" | "key" | "value">): number {
    const of = `${key}`, id = `${stream} ${of}`;
    const total = (this.#totals.get(of) ?? 0) + value - (this.#counts.get(id) ?? 0);
    this.#counts.set(id, value);
    this.#totals.set(of, total);
    return total;
  }
}
