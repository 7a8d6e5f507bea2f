/** What so many threads of this machine can do at most, measured. All per second, of all threads together. */
export interface Ceilings {
  readonly threads: number;
  /** Bytes read that lie in memory and in no cache. */
  readonly memoryBytes: number;
  /**
   * Bytes read that lie in the last-level cache, and how many bytes one such cache has. Null where the CPUs' own caches hold more
   * than a quarter of that: too little would lie in it alone.
   */
  readonly cacheBytes: number | null;
  readonly cacheSize: number;
  /** Bytes of all of these that the threads can have. */
  readonly cachesSize: number;
  /** Multiplications and additions of 32-bit floating-point numbers, by the widest instructions of the processor. */
  readonly flops: number;
  /** The same of bytes, as quantised weights are multiplied. */
  readonly byteOperations: number;
  /** The same of numbers of 16 bits (bf16), which some processors multiply in pairs. */
  readonly bf16Flops: number;
}

const names = [
  "threads",
  "memoryBytes",
  "cacheBytes",
  "cacheSize",
  "cachesSize",
  "flops",
  "byteOperations",
  "bf16Flops",
] as const satisfies (keyof Ceilings)[];

/** What a cache or a recording kept, by number of threads; null when it is no such list. Earlier ones tell less. */
export function parseCeilings(kept: unknown): Ceilings[] | null {
  if (!Array.isArray(kept) || kept.length === 0) return null;
  const isOne = (one: Readonly<Record<string, unknown>> | null) =>
    typeof one === "object" && one !== null &&
    names.every((name) => Number.isFinite(one[name]) && (one[name] as number) > 0 || (name === "cacheBytes" && one[name] === null));
  const all = kept.map((one) => typeof one === "object" && one !== null ? { cachesSize: one.cacheSize, bf16Flops: one.flops, ...one } : one);
  return all.every(isOne) ? all : null;
}

/** What is measured beside other work is less than the machine can do: of each figure the highest that was seen. */
export function highest(measured: readonly Ceilings[], before: readonly Ceilings[]): Ceilings[] {
  return measured.map((now) => {
    const then = before.find(({ threads }) => threads === now.threads) ?? now;
    return Object.fromEntries(names.map((name) => [name, now[name] && Math.max(now[name], then[name] ?? 0)])) as unknown as Ceilings;
  });
}

const rates = ["memoryBytes", "cacheBytes", "flops", "byteOperations", "bf16Flops"] as const satisfies (keyof Ceilings)[];

/**
 * Those of so many threads: between two counts that were measured rates lie between theirs, and caches are those that the larger one reaches. Threads beyond
 * the cores add less than the ones before, so that where cores end between two counts it is somewhat less than the machine can do, and never more.
 * Of fewer threads than were measured, and of more, those of the fewest and of the most.
 */
export function ceilingsFor(threads: number, all: readonly Ceilings[]): Ceilings | undefined {
  const at = all.findIndex((one) => one.threads >= threads);
  const [below, above] = [all[at - 1], all.at(at)];
  if (!below || !above || above.threads === threads) return above;
  const share = (threads - below.threads) / (above.threads - below.threads);
  const between = rates.map((rate) => {
    const [from, to] = [below[rate], above[rate]];
    return [rate, from === null || to === null ? null : from + share * (to - from)] as const;
  });
  return { ...above, threads, ...Object.fromEntries(between) };
}
