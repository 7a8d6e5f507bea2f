export type GpuDirection = "host to device" | "device to host" | "on the device" | "between devices" | "on the host" | "by the addresses";

/** A call into a library that drives a GPU. */
export interface GpuCall {
  /** Of functions: `cuda`, `cudart`, `nccl` … */
  readonly family: string;
  /** What it is for: `alloc`, `copy`, `launch` … */
  readonly kind: string;
  /** What it returned; 0: done; null: nothing, or what is no such number. */
  readonly result: number | null;
  /** Why it failed, in words; null: it did not, though it may have returned what another one had failed with. */
  readonly failure: string | null;
  /** Where that is known. */
  readonly bytes?: number;
  readonly direction?: GpuDirection;
  /** What kind of memory was asked for or let go: `device`, `host` … */
  readonly memory?: string;
  /** Where that is; -1: memory of the host. */
  readonly device?: number;
  /** Of memory that was let go. */
  readonly heldNs?: number;
  /** It asked for memory that a call which it made itself has told of, or for none. */
  readonly isRepeat?: boolean;
  /** Memory that was let go without a call that says so: another was given the same address, or nobody has it mapped any more. */
  readonly released?: readonly ReleasedBlock[];
  /** A copy that is done when it returns. */
  readonly isWaited?: boolean;
  readonly stream?: number;
  /** Name, or where none is known, what it is known by. */
  readonly kernel?: string;
  /** It was recorded into a graph, and did nothing. */
  readonly isCaptured?: boolean;
  /** Of a graph that is launched, where it is known. */
  readonly graph?: GraphWork;
  /** The number of a `SeenStack` (span.ts). */
  readonly stack?: number;
}

export interface ReleasedBlock {
  /** Undefined: nobody says how many. */
  readonly bytes: number | undefined;
  readonly memory: string;
  readonly device: number;
  readonly heldNs: number;
}

export interface Moved {
  readonly times: number;
  readonly bytes: number;
}

/** What a graph does each time that it is launched. */
export interface GraphWork {
  /** How many times, by name. */
  readonly kernels: ReadonlyMap<string, number>;
  readonly copies: ReadonlyMap<GpuDirection, Moved>;
  /** By function. */
  readonly collectives: ReadonlyMap<string, Moved>;
}

/** Memory of a GPU that nobody has let go. */
export interface HeldBlock {
  /** Undefined: nobody says how many. */
  readonly bytes: number | undefined;
  readonly memory: string;
  readonly device: number;
  readonly stack: number | undefined;
  readonly heldNs: number;
  /** Its process has ended, or its context; otherwise it was held when counting ended. */
  readonly hasExited: boolean;
}

/** What a process asks of a GPU's device file. */
export interface GpuFileUse {
  readonly device: string;
  readonly pid: number;
  readonly name: string;
  /** It belongs to the target. */
  readonly isTarget: boolean;
  readonly what: "open" | "ioctl" | "map" | "close";
  /** 0: done. */
  readonly errno: number;
  readonly command?: string;
}
