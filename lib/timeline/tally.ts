/** Counts of one stream: what the kernel emitted in the window, and what became of it. */
export interface Tally {
  /** The kernel's own count when it was last printed. */
  emitted: number;
  received: number;
  /** Lines that fit no grammar. */
  undecodable: number;
  /** Emitted while llmprof waited for a target, read, and not kept. */
  discarded: number;
  /** Hits that the kernel skipped because another program ran on that CPU; they were never emitted. */
  skipped: number;
  /** What bpftrace itself reported as lost while it ran; drawn where it happened. */
  reported: number;
  /** Hits by record. */
  readonly hits: Map<string, number>;
}

export function newTally(): Tally {
  return { emitted: 0, received: 0, undecodable: 0, discarded: 0, skipped: 0, reported: 0, hits: new Map() };
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
