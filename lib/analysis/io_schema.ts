import * as z from "zod";
import { surroundingsSchema } from "./surroundings_schema.ts";
import { systemCallsSchema } from "./system_calls_schema.ts";

const count = z.int().nonnegative();
const bytes = z.number();
const ns = z.number();

/** Quantiles are off by at most 0.8 %. Slot n: how many took from 2^n to 2^(n+1) − 1 microseconds, 0: shorter ones, too. */
const latencySchema = z.object({
  totalNs: ns,
  meanNs: ns,
  p50Ns: ns,
  p90Ns: ns,
  p99Ns: ns,
  maxNs: ns,
  slots: z.array(z.object({ slot: count, count })),
});

const requestsSchema = z.object({
  /** `7:0` */
  device: z.string(),
  what: z.enum(["read", "write", "discard", "flush", "other"]),
  requests: count,
  bytes,
  /** Exact. */
  sizes: z.object({ p50Bytes: bytes, p99Bytes: bytes, maxBytes: bytes }),
  errors: count,
  /** Begin where the last one of their thread ended. */
  sequential: count,
  /** Not answered when counting ended, which are in nothing else here but `meanInFlight`, and how long the device had had the oldest by then. */
  unanswered: count,
  unansweredNs: ns,
  /** How many the device had at once, on average over the time watched. */
  meanInFlight: z.number(),
  /** For how long at least one of them waited to be handed to the device. */
  queuedNs: ns,
  /** From being made to being handed to the device. */
  queue: latencySchema,
  /** From there to its answer. */
  service: latencySchema,
});

/**
 * What `io` answers. Requests are those that threads of the target made; what the kernel reads ahead for them is theirs, what it writes later on its own is
 * not.
 */
export const ioResultSchema = z.object({
  windows: z.object({ count, ns }),
  /** By device and kind, most time in the device first; `name`: what the machine calls it, where it told. */
  devices: z.array(requestsSchema.extend({
    name: z.string().nullable(),
    /** Handed to the device once more, of all kinds: in the first row of a device. */
    requeued: count,
    /** What was asked for and became a part of another request: of these there would be so many more. */
    merged: count,
    /** By which there are more, because what was asked for is longer than the device takes at once. */
    split: count,
  })),
  /** The same by the process whose threads asked, of a thousand at most; `process`: its name, empty where it was not told. */
  processes: z.array(requestsSchema.extend({ pid: count, process: z.string(), name: z.string().nullable() })),
  /** By name, most time first: in reads, fetches, page faults and calls that fill mappings. */
  files: z.array(z.object({
    file: z.string(),
    opens: count,
    /** Reads, and what was sent, spliced or copied from it. */
    reads: count,
    /** Of them, those that had not returned when counting ended: how long they had taken by then counts, and no bytes. So it is with fills. */
    unreturned: count,
    readBytes: bytes,
    /**
     * Without what several processes read of it, each for itself: what one of them read that read most, or all that is in the file. Where nobody saw it
     * opened they did so if nearly as much came into memory as one of them read.
     */
    readOnceBytes: bytes,
    readNs: ns,
    /** For how long at least one of them went on. */
    readingNs: ns,
    readP50Ns: ns.nullable(),
    readP99Ns: ns.nullable(),
    /** Asked for ahead of a read (readahead, posix_fadvise), as far as the file goes. */
    fetches: count,
    fetchedBytes: bytes,
    fetchNs: ns,
    mappedBytes: bytes,
    /** Calls that may bring it into memory before anybody touches it (mmap, mlock, madvise), most time first. */
    fills: z.array(z.object({ call: z.string(), calls: count, unreturned: count, bytes, ns })),
    /** Page faults in mappings of it, as far as they were drawn, and how long they took with what lies between them. */
    faults: count,
    faultNs: ns,
    /** Of them, those that waited for the disk, and how long. */
    major: count,
    majorNs: ns,
    /** Brought into the page cache while the target asked: what came from the disk; null: nothing of it was seen to. */
    cachedBytes: bytes.nullable(),
  })),
  /** Page faults in models' files by the tensor that was touched (null: what is before the first), most time for the disk first. */
  tensors: z.array(z.object({ file: z.string(), tensor: z.string().nullable(), faults: count, major: count, majorNs: ns })),
  /** Those that read, asked a disk, or touched; time in reads and for the disk in faults first. */
  threads: z.array(z.object({
    pid: count,
    tid: count,
    /** Empty where it was not told. */
    name: z.string(),
    reads: count,
    readBytes: bytes,
    readNs: ns,
    /** Of disks, and how long they took in the queue and in the device. */
    requests: count,
    requestBytes: bytes,
    requestNs: ns,
    /** Page faults as far as each was told; of them, those that waited for the disk. */
    faults: count,
    major: count,
    majorNs: ns,
  })),
  pageFaults: count.nullable(),
  /** Of them, in files, those that waited for the disk. */
  majorFaults: count,
  /**
   * What threads waited for longest, at most three: in reads of a file, in calls that fill mappings of it, in its page faults or those of memory that was
   * swapped out, or in the queue of a disk. `share`: of the time watched; threads add up.
   */
  verdict: z.array(z.object({
    wait: z.enum(["reads", "mappings", "page faults", "swap", "queue"]),
    of: z.string(),
    share: z.number(),
    ns,
    evidence: z.string(),
    advice: z.string(),
  })),
  locks: z.object({ lockedBytes: bytes, failures: z.array(z.object({ errno: z.string(), count, bytes })) }),
  /** By call (and advice), most time first: bytes of those that did not fail. */
  memoryCalls: z.array(z.object({ kind: z.string(), calls: count, failed: count, bytes, ns })),
  /** Requests, of whatever kind, in ways that no file's reads tell of: `io_uring` (without what a thread of the kernel fetches itself), `io_submit`, `vmsplice`. */
  untold: z.array(z.object({ call: z.string(), requests: count })),
  ...surroundingsSchema.shape,
  /** With `--syscalls` alone. */
  systemCalls: systemCallsSchema.nullable(),
  quality: z.object({ lostEvents: count, undecodableLines: count }),
});

export type IoResult = z.infer<typeof ioResultSchema>;
export type LatencyResult = z.infer<typeof latencySchema>;
export type RequestsResult = z.infer<typeof requestsSchema>;
