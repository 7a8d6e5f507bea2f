import * as z from "zod";

const count = z.int().nonnegative();
const pid = z.string().regex(/^\d+$/);
/** Process id → a sum. */
const byProcess = z.record(pid, z.number());
/** From 1970 to the end of the last year of four digits, as `iso_timestamp` has. */
const MOST_SECONDS = 253_402_300_800;
const when = {
  /** Seconds since 1970, at the end of the interval. */
  timestamp: z.number().nonnegative().lt(MOST_SECONDS),
  iso_timestamp: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00$/),
  interval_s: z.number().positive().lt(MOST_SECONDS),
};

/** A line of `io --snapshots`. */
export const ioSnapshotSchema = z.object({
  ...when,
  /** Microseconds from being handed to the device to its answer; slot n is from 2^n to 2^(n+1) − 1, and 0 holds shorter ones, too. */
  latency_histogram: z.array(z.object({
    device_name: z.string(),
    total: count,
    buckets: z.array(z.object({ slot: count, count, bucket_low: count, bucket_high: count })),
  })),
  inflight: z.array(z.object({ device_name: z.string(), count: z.int() })),
});

const averages = z.object({ avg10: z.number(), avg60: z.number(), avg300: z.number(), total: z.number() }).nullable();
const pressure = z.object({ some: averages, full: averages }).nullable();

/** A line of `sched --snapshots`. */
export const schedSnapshotSchema = z.object({
  ...when,
  /** Nanoseconds for which threads of a process were on no processor, of times that ended in the interval. */
  off_cpu_ns: byProcess,
  page_faults: byProcess,
  /** As the kernel says it, a second before at most; null where it does not. */
  pressure: z.object({ cpu: pressure, io: pressure, memory: pressure }),
  /** What these processes call themselves, as far as that is known. */
  names: z.record(pid, z.string()).optional(),
});

export type IoSnapshot = z.infer<typeof ioSnapshotSchema>;
export type SchedSnapshot = z.infer<typeof schedSnapshotSchema>;

/** A line of either: `snapshots.schema.json` says the same in JSON Schema, for other tools. */
export const snapshotSchema = z.union([ioSnapshotSchema, schedSnapshotSchema]);

/** What `--snapshots` answers at its end. */
export const totalsResultSchema = z.object({
  intervals: count,
  windows: z.object({ count, ns: z.number() }),
  quality: z.object({ lostEvents: count, undecodableLines: count }),
});

export type TotalsResult = z.infer<typeof totalsResultSchema>;
