import * as z from "zod";
import { numaSchema, surroundingsSchema } from "./surroundings_schema.ts";
import { systemCallsSchema } from "./system_calls_schema.ts";

const count = z.int().nonnegative();
/** A sum of nanoseconds. */
const ns = z.number();

/**
 * Other threads, by the name that each had when it was last seen. Where there are too many to count all of them, those with little time are left out for a
 * while: of who comes back, `uncountedNs` more at most, and who may not be among the first is in no list.
 */
const otherSchema = z.object({ name: z.string(), tid: count, times: count, ns, uncountedNs: ns });

/** Times off a processor, for one reason. Quantiles are off by at most 0.8 %. */
const waitSchema = z.object({
  reason: z.string(),
  /** System call; null: in none. */
  call: z.string().nullable(),
  times: count,
  totalNs: ns,
  /** Of that, ready to run, and no processor did. */
  queuedNs: ns,
  p50Ns: ns,
  p99Ns: ns,
  maxNs: ns,
  /** Threads that ended most of these times; an interrupt, such as a timer's or a device's, is none. */
  wakers: z.array(otherSchema),
});

/**
 * What `sched` answers. A thread is on a processor, or off: until it is woken for a reason, then queued until a processor runs it. Times are of threads, so
 * those of a process with four of them may sum to four seconds in one.
 */
export const schedResultSchema = z.object({
  windows: z.object({ count, ns }),
  /** Most time on a processor first. */
  threads: z.array(z.object({
    pid: count,
    tid: count,
    name: z.string(),
    /** Processors on which it may run, `0-3,8`, when that was looked at last until its end; one that nobody looked at: as its process's first thread. Null: not known. */
    affinity: z.string().nullable(),
    /** From when it began, or first left a processor, until it ended or counting did. */
    seenNs: ns,
    onNs: ns,
    /** Ready to run, and no processor did. */
    queuedNs: ns,
    /** Off a processor until it was woken, by reason. */
    waits: z.array(z.object({ reason: z.string(), times: count, ns })),
    /** Times that it left its processor by itself, and against its will: as the kernel counts, to which who yields still wanted to run. */
    voluntary: count,
    involuntary: count,
    /** Those of the latter in which it gave its processor away (sched_yield), and how long it was queued then. */
    yielded: count,
    yieldedNs: ns,
    /** Times that it came back on another processor. */
    migrations: count,
  })),
  /** By reason and system call, most time first; those that had not ended are in no quantile, and may be the longest. */
  waits: z.array(waitSchema),
  /** Who took a processor from the target, and how long those waited that it was taken from. `traces`: a thread of llmprof's, or of its bpftraces. */
  takers: z.array(otherSchema.extend({ traces: z.boolean() })),
  /** `queue`: of each time that a thread came to a processor, how long it had been ready to run; quantiles as of waits. */
  totals: z.object({
    queue: z.object({ p50Ns: ns, p90Ns: ns, p99Ns: ns, maxNs: ns }),
    onNs: ns,
    queuedNs: ns,
    waitNs: ns,
    voluntary: count,
    involuntary: count,
    yielded: count,
    migrations: count,
  }),
  ...surroundingsSchema.shape,
  /** Null on a machine of one node. `remote`: which share of its memory is in another node than who touches it, if threads touch all of it alike. */
  numa: numaSchema.nullable(),
  /**
   * What threads that compute (busy for a tenth of the busiest one's time, at least: on a processor, or waiting for one, the disk, a file, a page fault, a
   * device, the kernel) wait for, most first, as a share of the time in which they were seen; three at most, of a hundredth at least. Where `io` looked as
   * well, evidence and advice of waits for files are its own.
   */
  verdict: z.array(z.object({ wait: z.string(), share: z.number(), ns, evidence: z.string(), advice: z.string() })),
  /**
   * With `--stacks` alone: times off a processor by reason, system call and who called whom, the innermost first, most time first. Callers are known where
   * code keeps frame pointers.
   */
  stacks: z.array(z.object({ reason: z.string(), call: z.string().nullable(), frames: z.array(z.string()), times: count, ns })).nullable(),
  /** With `--syscalls` alone. */
  systemCalls: systemCallsSchema.nullable(),
  quality: z.object({ lostEvents: count, undecodableLines: count }),
});

export type SchedResult = z.infer<typeof schedResultSchema>;
export type SchedThread = SchedResult["threads"][number];
