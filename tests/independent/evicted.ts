import { watchPages } from "./page_cache.ts";

/** Bytes of a file that left the page cache. */
export interface Evicted<T> {
  /** After one moment and until another, nanoseconds of CLOCK_BOOTTIME, to the millisecond. */
  between(from: bigint, to: bigint): number;
  readonly value: T;
}

/**
 * Watches what of a file leaves the page cache, whoever takes it out: some machines page out what was not used for seconds, or drop all that they hold,
 * also between the moment in which somebody looks and that in which bpftrace has ended.
 */
export async function watchEvicted<T>(bpftrace: string, path: string, whileRunning: () => Promise<T>): Promise<Evicted<T>> {
  const leaving = { event: "mm_filemap_delete_from_page_cache", paths: [path], by: "nsecs / 1000000" } as const;
  const { bytes, value } = await watchPages(bpftrace, leaving, whileRunning);
  const between = (from: bigint, to: bigint) =>
    [...bytes].filter(([at]) => at > from / 1_000_000n && at <= to / 1_000_000n).reduce((sum, [, bytes]) => sum + bytes, 0);
  return { between, value };
}
