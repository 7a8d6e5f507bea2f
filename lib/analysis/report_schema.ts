import * as z from "zod";

const count = z.int().nonnegative();
/** A share of the time, from 0 to 1; null where the kernel says nothing. */
const share = z.number().nullable();
const stall = z.object({ some: share, full: share });

/** What `report` says of lines of snapshots. */
export const reportResultSchema = z.object({
  /** Seconds since 1970 at which the first interval begins and the last one ends; null without a line. */
  from: z.number().nullable(),
  to: z.number().nullable(),
  /** Intervals of `io --snapshots` and of `sched --snapshots`, and lines that are neither. */
  lines: z.object({ io: count, sched: count, unread: count }),
  /** Seconds of which no line tells, between lines of one kind, and in how many pieces; of the kind that misses more. */
  missing: z.object({ pieces: count, seconds: z.number() }),
  /** Most requests first. Times are upper ends of powers of two: what they say is at most twice as long as it was. */
  devices: z.array(z.object({
    device: z.string(),
    requests: count,
    p50Ns: z.number().nullable(),
    p99Ns: z.number().nullable(),
    mostInFlight: z.int(),
  })),
  /** Most time off a processor first; a sum over threads. `name`: what it called itself last; null where nobody knew. */
  processes: z.array(z.object({ pid: z.string(), name: z.string().nullable(), offCpuNs: z.number(), pageFaults: z.number() })),
  /** Of the time between lines of a file, for how much of it some or all processes that had work waited for this. */
  pressure: z.object({ cpu: stall, io: stall, memory: stall }),
});

export type ReportResult = z.infer<typeof reportResultSchema>;
