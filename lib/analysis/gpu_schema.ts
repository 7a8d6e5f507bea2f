import * as z from "zod";
import { systemCallsSchema } from "./system_calls_schema.ts";

const count = z.int().nonnegative();
/** A sum of nanoseconds, or of bytes. */
const sum = z.number();

/**
 * What `gpu` answers: what the target asks of a GPU, as its CPU sees it. How long a GPU computes is not seen. A call that makes another of its kind (the
 * runtime's copy, the driver's copy) is one in all but `functions` and `errors`, in which each function has its own, and `calls` and `failed` of `totals`,
 * which are the sums of `functions`.
 */
export const gpuResultSchema = z.object({
  windows: z.object({ count, ns: sum }),
  /** By function, most time first. `family`: whose it is: `cuda` (the driver), `cudart` (the runtime), `nccl`, `hip`, `vulkan` … */
  functions: z.array(z.object({
    family: z.string(),
    name: z.string(),
    kind: z.string(),
    calls: count,
    failed: count,
    totalNs: sum,
    meanNs: sum,
    p99Ns: sum,
    maxNs: sum,
    bytes: sum,
  })),
  totals: z.object({
    calls: count,
    failed: count,
    launches: count,
    /** Recorded into graphs instead of launched. */
    captured: count,
    /** The same, of graphs. */
    capturedGraphs: count,
    graphLaunches: count,
    /** Kernels of graphs that were launched, as far as it is known how they were made. */
    graphKernels: count,
    /** Launches of graphs of which it is not known what they run: they were made before. */
    unknownGraphs: count,
    /** Submissions of Vulkan and Level Zero. */
    submits: count,
    /** In calls that wait for the GPU. */
    syncs: count,
    syncNs: sum,
    /** Copies from and to a GPU that return when they are done. */
    waitedCopies: count,
    waitedCopiesNs: sum,
    /** Calls that ask whether the GPU has done something, and do not wait. */
    polls: count,
    pollNs: sum,
    /** Of threads, in outermost calls. */
    totalNs: sum,
  }),
  /** Those that graphs make are apart, and take no time of a call. `waited`: of those that return when they are done, others only begin. */
  copies: z.array(z.object({ direction: z.string(), copies: count, bytes: sum, ns: sum, waitedBytes: sum, waitedNs: sum })),
  collectives: z.array(z.object({ name: z.string(), calls: count, bytes: sum, ns: sum })),
  /** `captured`: recorded into graphs; `inGraphs`: run by those, as often as they were launched. */
  kernels: z.array(z.object({ name: z.string(), launches: count, captured: count, inGraphs: count })),
  /** On the GPU, where parcagpu tells: how often each kernel ran, and for how long. Null where nobody tells. */
  executed: z.array(z.object({ name: z.string(), runs: count, totalNs: sum, meanNs: sum, maxNs: sum })).nullable(),
  /** By process, GPU (null: memory of the host) and kind: what was asked for while anybody looked. */
  memory: z.array(z.object({
    pid: count,
    device: count.nullable(),
    memory: z.string(),
    allocations: count,
    /** Of them, such as arrays: they are in no figure of bytes. */
    ofUnknownSize: count,
    allocatedBytes: sum,
    frees: count,
    freedBytes: sum,
    peakBytes: sum,
    /** Of allocations whose size is known. */
    sizeP50: sum.nullable(),
    sizeMax: sum.nullable(),
    /** Of those that were let go: how long they were held. */
    heldP50Ns: sum.nullable(),
    heldMaxNs: sum.nullable(),
  })),
  /** What is in no figure of `memory`: what processes had that ran before, and how often memory was let go of which nobody saw that it was asked for. */
  memoryBefore: z.object({ processes: count, frees: count }),
  /** Blocks that nobody let go: `exited`: their process has ended, or their context; otherwise they were held when counting ended. `frames`: who asked for them, with `--stacks`. */
  held: z.array(z.object({
    pid: count,
    device: count.nullable(),
    memory: z.string(),
    exited: z.boolean(),
    blocks: count,
    bytes: sum,
    longestNs: sum,
    frames: z.array(z.string()).nullable(),
  })),
  /**
   * Times shorter than half a second in which a process's GPUs had done all that they were given, and were given nothing: of all processes together (it may
   * be longer than anybody watched), and of each. `pauses`: longer ones, in which nobody asked anything of it, or it loaded something. `usedNs`: from its
   * first call to its last, without these. `abandoned`: streams that were destroyed with work that nobody had waited for; it counts as going on until all of its
   * context is waited for, which hides gaps.
   */
  gaps: z.object({
    count,
    ns: sum,
    p50Ns: sum,
    longestNs: sum,
    processes: z.array(z.object({ pid: count, count, ns: sum, longestNs: sum, usedNs: sum, pauses: count, pausesNs: sum })),
    abandoned: count,
  }),
  /**
   * By function: calls that had not returned when counting ended, or when their process did, and of the longest how long it had lasted, and whose it is. None where
   * bpftrace cannot walk through a map (before 0.22).
   */
  unfinished: z.array(z.object({ family: z.string(), name: z.string(), calls: count, longestNs: sum, pid: count, tid: count })),
  /** `echoes`: of them, those that only repeat what a process was `lost` with. */
  errors: z.array(z.object({ function: z.string(), failure: z.string(), times: count, echoes: count })),
  /** Processes that can ask nothing more of their GPUs: the first call that failed so, since counting began, and how many failed with the same behind it. */
  lost: z.array(z.object({ pid: count, tid: count, function: z.string(), failure: z.string(), atNs: sum, echoes: count })),
  /** Of each token that was generated after a call of the engine was seen, where its tokens were recorded with it: between the ends of calls. */
  perToken: z.object({ tokens: count, callsNs: sum, launches: sum, kernels: sum, copies: sum, copiedBytes: sum, allocations: sum, syncNs: sum })
    .nullable(),
  /** Device files, and everybody who used them. */
  files: z.array(z.object({
    device: z.string(),
    users: z.array(z.object({
      pid: count,
      name: z.string(),
      isTarget: z.boolean(),
      opens: count,
      failedOpens: count,
      ioctls: count,
      failedIoctls: count,
      ioctlNs: sum,
      maps: count,
      failedMaps: count,
      closes: count,
      /** From its first use to its last, since counting began. */
      fromNs: sum,
      toNs: sum,
    })),
    commands: z.array(z.object({ command: z.string(), calls: count, ns: sum, maxNs: sum })),
    /** Openings and mappings, by errno. */
    failures: z.array(z.object({ what: z.enum(["open", "map"]), errno: count, times: count, pids: z.array(count) })),
  })),
  /** What each GPU said of itself, each second, where nvidia-smi or the amdgpu driver tells: means of the run, and for memory the most. */
  devices: z.array(z.object({
    gpu: count,
    readings: count,
    busyPercent: z.number().nullable(),
    memoryBusyPercent: z.number().nullable(),
    memoryUsedBytes: z.number().nullable(),
    clockMhz: z.number().nullable(),
    powerWatts: z.number().nullable(),
    temperatureCelsius: z.number().nullable(),
    /** Why it was slower than it could be, and in how many readings. */
    throttled: z.array(z.object({ reason: z.string(), readings: count })),
  })),
  /**
   * Whether the target waits for others that use its GPU: how long what it asks of the driver took that began while others asked too, and otherwise. Null
   * where nobody else did. `slower`: how many times as long the same typically took (means of logarithms), of what was asked both ways; null where there is
   * too little to compare. `waits`: so much longer that it is no chance. `waitedNs`: then, how much longer, in all that a typical one took.
   */
  contention: z.object({
    others: z.array(z.object({ pid: count, name: z.string() })),
    sharedNs: sum,
    shared: z.object({ calls: count, meanNs: sum }),
    alone: z.object({ calls: count, meanNs: sum }),
    slower: z.number().nullable(),
    waits: z.boolean(),
    waitedNs: sum,
  }).nullable(),
  systemCalls: systemCallsSchema.nullable(),
  quality: z.object({ lostEvents: count, undecodableLines: count, unknownCalls: count }),
});

export type GpuResult = z.infer<typeof gpuResultSchema>;
