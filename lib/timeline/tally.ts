import type { Value } from "../events/event.ts";
import type { Ns } from "../events/time.ts";
import type { StreamSchema } from "../programs/schema.ts";

/** Counts of one stream: what the kernel emitted in the window, and what became of it. */
export class Tally {
  /** The kernel's own count when it was last printed. */
  emitted = 0;
  received = 0;
  /** Lines that fit no grammar. */
  undecodable = 0;
  /** Emitted while llmprof waited for a target, read, and not kept. */
  discarded = 0;
  /** Hits that the kernel skipped because another program ran on that CPU; they were never emitted. */
  skipped = 0;
  /** What bpftrace itself reported as lost while it ran; drawn where it happened. */
  reported = 0;
  /** Time of the latest event that has arrived. */
  latest: Ns = -Infinity;
  /** By kind of line: cheaper to count than by name. */
  readonly #hits: number[] = [];
  /** By kind of line and by where in the code it was, of records that begin with that. */
  readonly #places: (Map<number, number> | undefined)[] = [];

  constructor(readonly records: StreamSchema["records"]) {
    for (const [kind, { fields }] of Object.entries(records)) {
      this.#hits[Number(kind)] = 0;
      if (fields[0]?.unit === "code") this.#places[Number(kind)] = new Map();
    }
  }

  /** An event has arrived. */
  event(kind: number, at: Ns, values: readonly Value[] = []): void {
    this.received++;
    if (at > this.latest) this.latest = at;
    this.#hits[kind]!++;
    const places = this.#places[kind];
    if (places) places.set(values[0] as number, (places.get(values[0] as number) ?? 0) + 1);
  }

  /** Hits by address, of all records that tell one. */
  get places(): Map<number, number> {
    const sums = new Map<number, number>();
    for (const places of this.#places) for (const [at, count] of places ?? []) sums.set(at, (sums.get(at) ?? 0) + count);
    return sums;
  }

  /** Hits by name of the record, of those that were seen. */
  get hits(): Map<string, number> {
    const named = Object.entries(this.records).map(([kind, { name }]) => [name, this.#hits[Number(kind)]!] as const);
    return new Map(named.filter(([, count]) => count > 0));
  }
}

export interface Counts {
  readonly emitted: number;
  readonly received: number;
  readonly lost: number;
  readonly undecodable: number;
}

/** Lost is what was emitted and did not arrive, and what the kernel skipped. */
export function countsOf(tallies: Iterable<Tally>): Counts {
  let emitted = 0, received = 0, undecodable = 0, skipped = 0;
  for (const tally of tallies) {
    // A recording may end before the last count of what it holds.
    emitted += Math.max(tally.emitted - tally.discarded, tally.received);
    received += tally.received;
    undecodable += tally.undecodable;
    skipped += tally.skipped;
  }
  return { emitted: emitted + skipped, received, lost: emitted - received + skipped, undecodable };
}
