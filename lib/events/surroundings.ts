/** What llmprof reads of the machine and of control groups around a target. */

/** `some` threads, or all at once (`full`), stood still for want of it: percent of the last 10, 60 and 300 seconds, and microseconds in all. */
interface Stalls {
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
  readonly total: number;
}

/** What the kernel says of pressure (`/proc/pressure`); null where it says nothing. */
export type Pressure = { readonly [resource in "cpu" | "io" | "memory"]: { readonly some: Stalls | null; readonly full: Stalls | null } };

/** Nanoseconds, since the machine was started, for which a hypervisor ran others on its processors, of those in which they had something to do. */
export interface StolenTime {
  readonly ns: number;
  readonly busyNs: number;
}

/** A disk, and how many requests it has, waiting or with the device, whoever made them. */
export interface DiskUse {
  /** 2^20 × major + minor. */
  readonly dev: number;
  /** `nvme0n1` */
  readonly name?: string;
  readonly requests: number;
}

/** Memory of processes, and of the machine, in bytes. */
export interface MemoryUse {
  readonly processes: readonly {
    readonly pid: number;
    readonly resident: number;
    readonly locked: number;
    readonly swapped: number;
    /** Bytes in the memory of each node, on a machine that has several, where that was looked at. */
    readonly nodes?: readonly { readonly node: number; readonly bytes: number }[];
  }[];
  readonly available: number;
  /** Of files, kept because nobody needs the room. */
  readonly pageCache: number;
  /** Pages that came from and went to swap since the machine was started. */
  readonly swappedIn: number;
  readonly swappedOut: number;
}

/** Processors on which a process may run, `0-3,8`, and those of its threads that may run on others than the first one. */
export interface Affinity {
  readonly pid: number;
  readonly affinity: string;
  readonly threads: readonly { readonly tid: number; readonly affinity: string }[];
}

/** What control groups allow a process, and what has come of it since they were made. */
export interface Limits {
  /** Processors' time that it may use; null: all. */
  readonly cpus: number | null;
  /** Times that it had used that up and stood still until the next period, and for how long, a processor at a time. */
  readonly throttled: number;
  readonly throttledNs: number;
  /** Null: as much as there is. */
  readonly memoryLimit: number | null;
  /** From so many bytes on the kernel takes memory back, and lets threads sleep that ask for more (`memory.high`); absent: from none. */
  readonly memoryHigh?: number;
  /** What is used of the narrower of these. */
  readonly memoryBytes: number | null;
  /** Times that there was more than `memoryHigh`; absent as that is. */
  readonly heldBack?: number;
  /** Processes that the kernel killed because there was no more. */
  readonly killed: number;
  /** Of files, what had to be read again because there was no room to keep it; absent: nobody counts. */
  readonly refaultedBytes?: number;
  /** Disks of which it may read so much in a second. */
  readonly reads: readonly ReadLimit[];
}

/** Null: as much as the disk gives. */
export interface ReadLimit {
  /** `259:0` */
  readonly device: string;
  readonly bytes: number | null;
  readonly requests: number | null;
}

/** What a GPU said of itself at a moment. Null: it does not tell. */
export interface GpuReading {
  readonly gpu: number;
  /** Percent of the last second or so in which it, or its memory, had something to do. */
  readonly busy: number | null;
  readonly memoryBusy: number | null;
  /** Bytes, of all processes. */
  readonly memoryUsed: number | null;
  readonly memoryTotal: number | null;
  /** MHz. */
  readonly clock: number | null;
  /** Watts. */
  readonly power: number | null;
  /** Degrees Celsius. */
  readonly temperature: number | null;
  /** Why it is slower than it could be. */
  readonly throttled: readonly string[];
}
