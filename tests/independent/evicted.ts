import { trace } from "./trace.ts";

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
  const { ino } = Deno.statSync(path);
  const sum = "@evicted[nsecs / 1000000] = sum(4096 << args->order);";
  const program = `tracepoint:filemap:mm_filemap_delete_from_page_cache /args->i_ino == ${ino}/ { ${sum} }`;
  const { stdout, value } = await trace(bpftrace, program, whileRunning);
  const rows = [...stdout.matchAll(/^@evicted\[(\d+)\]: (\d+)$/gm)].map(([, at, bytes]) => ({ at: BigInt(at!), bytes: Number(bytes) }));
  const between = (from: bigint, to: bigint) =>
    rows.filter(({ at }) => at > from / 1_000_000n && at <= to / 1_000_000n).reduce((sum, { bytes }) => sum + bytes, 0);
  return { between, value };
}
