import * as z from "zod";

const count = z.int().nonnegative();
const bytes = z.number();
/** Nanoseconds in which some, or all, threads that had work stood still for want of it; null where the kernel does not say. */
const stallsSchema = z.object({ someNs: z.number().nullable(), fullNs: z.number().nullable() });
/** `overNs`: from the first look to the last one, which is a little more or less than what was watched. */
const pressureSchema = z.object({ overNs: z.number(), cpu: stallsSchema, io: stallsSchema, memory: stallsSchema });

/** What surrounded a target while it was watched: a part of what `io` and `sched` answer. Null: nobody knows. */
export const surroundingsSchema = z.object({
  /**
   * What control groups allow the target: of processors' time and memory (null: all there is), what it used at the end; how often, while it was watched, it
   * had used up its time and stood still, and for how long a processor at a time; processes that were killed for want of memory.
   */
  limits: z.object({
    cpus: z.number().nullable(),
    throttled: count,
    throttledNs: z.number(),
    memoryLimit: z.number().nullable(),
    /** From so much on the kernel takes memory back, and lets threads sleep that ask for more (`memory.high`); absent: from none. */
    memoryHigh: bytes.optional(),
    memoryBytes: z.number().nullable(),
    /** How often it did. */
    heldBack: count.optional(),
    killed: count,
    /** Of files, what had to be read again because there was no room to keep it; absent where nobody counts that. */
    refaultedBytes: bytes.optional(),
    /** Disks, by number, of which it may read so many bytes, or make so many requests, in a second. */
    reads: z.array(z.object({ device: z.string(), bytes: bytes.nullable(), requests: count.nullable() })).readonly(),
  }).nullable(),
  /** Of the machine (`/proc/pressure`) while the target was watched. */
  pressure: pressureSchema.nullable(),
  /** Of the target's control group, where that is one of version 2. */
  groupPressure: pressureSchema.nullable(),
  /** For how long a hypervisor ran others while this machine's processors had something to do, and how long that was; null: it never did, or nobody knows. */
  stolen: z.object({ ns: z.number(), busyNs: z.number() }).nullable(),
  memory: z.object({
    /** The most that was seen of each of the target's, once a second. */
    processes: z.array(z.object({ pid: count, residentBytes: bytes, lockedBytes: bytes, swappedBytes: bytes })),
    /** The most that they had together at one look. */
    residentBytes: bytes,
    lockedBytes: bytes,
    swappedBytes: bytes,
    leastAvailableBytes: bytes,
    /** Of the whole machine. */
    swappedInPages: count,
    swappedOutPages: count,
  }).nullable(),
});

/** Threads and memory by node, and how often threads came back on another one (see numa.ts). */
export const numaSchema = z.object({
  nodes: z.array(z.object({ node: count, onNs: z.number(), memoryBytes: bytes, processors: count })),
  migrations: count,
  remote: z.number(),
});

export type NumaResult = z.infer<typeof numaSchema>;
export type SurroundingsResult = z.infer<typeof surroundingsSchema>;
export type PressureResult = z.infer<typeof pressureSchema>;
