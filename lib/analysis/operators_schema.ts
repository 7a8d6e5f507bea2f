import * as z from "zod";
import { details } from "../programs/detail.ts";
import { offloadSchema } from "./offload_schema.ts";
import { samplesSchema } from "./samples_schema.ts";
import { systemCallsSchema } from "./system_calls_schema.ts";

const count = z.int().nonnegative();
/** A sum of nanoseconds. */
const ns = z.number();
const nsOrNull = z.number().nullable();
const ratioOrNull = z.number().nullable();

/**
 * What binds calls. `moving` and `computing`: the part of their time that moving their bytes, and computing, takes at least at the machine's ceilings; the
 * larger names what binds them, and where neither is seven tenths of the time it is something else.
 */
const boundSchema = z.object({ by: z.enum(["memory", "cache", "compute", "neither"]), moving: z.number(), computing: z.number() });

/**
 * What of a row belongs to one kind of call. `meanNs` and `p50Ns` are null where no call was timed. `bytes` and `flops` are what the timed calls had to read
 * and write, and to compute, by the shapes and types of their tensors (see probes/ggml/demand.ts): null where that of one of them is not known.
 * `coldBytes`: of tensors that the graph did not compute; `quantisedFlops`, `bf16Flops`: products of such weights.
 */
const partSchema = z.object({
  calls: count,
  totalNs: ns,
  meanNs: nsOrNull,
  p50Ns: nsOrNull,
  bytes: z.number().nullable(),
  coldBytes: z.number().nullable(),
  flops: z.number().nullable(),
  quantisedFlops: z.number().nullable(),
  bf16Flops: z.number().nullable(),
  /** Bytes and operations are the most that they can be: a mask may have spared some. */
  atMost: z.boolean(),
  /** Null where these are null or at most, or where the machine's ceilings were not measured. */
  bound: boundSchema.nullable(),
});

const sumsSchema = partSchema.extend({
  /** Calls that had not ended when the run did: counted in `calls`, in no time. */
  openCalls: count,
  /** `totalNs` of the time inside graphs. */
  share: ratioOrNull,
  /** The same calls on the workers other than 0, from start to their next start: busy beside worker 0, not in addition to the wall time. */
  othersNs: ns,
  /** Of both, what their workers waited for others to come to a barrier: null where that was not looked at (`--detail wait`). */
  waitNs: nsOrNull,
  othersWaitNs: nsOrNull,
  /** By how much the slowest worker works longer than the mean, from barrier to barrier: see imbalance.ts. Null as `waitNs`, or without others. */
  imbalance: ratioOrNull,
  prefill: partSchema,
  decode: partSchema,
  /** In a graph that no `llama_decode` contains (an encoder, another engine). */
  other: partSchema,
});

const namedSchema = sumsSchema.extend({ name: z.string() });

/**
 * Of a mixture: which experts the routers chose. `counts`, `estimatedNs` and `errorNs` are by the number of the expert. A layer's products are shared among
 * the experts of a batch by the tokens that went to them, as if each cost the same: an estimate, with half of the interval in which the sum lies in 95 of
 * 100 cases by how much the cost of a choice varies from batch to batch.
 */
const expertsSchema = z.object({
  layers: z.array(z.object({
    layer: z.int().nullable(),
    /** Null where that is not known. */
    experts: count.nullable(),
    /** How many each token goes to. */
    used: count,
    tokens: count,
    /** Choices of these tokens that could not be read: in no count. */
    unread: count,
    counts: z.array(count),
    /** Coefficient of variation of the counts: 0 where all experts are used alike. */
    variation: z.number(),
    /** How many experts take nine tenths of the choices. */
    hot: count,
    productsNs: ns,
    estimatedNs: z.array(ns),
    errorNs: z.array(ns),
  })),
  /** By the names that llama.cpp gives to tensors: choosing, and putting together what the experts say. */
  routerNs: ns,
  gatherNs: ns,
});

/**
 * What the processor's counters told by operator, most cycles first: each tells once in so many events, so a sum is off by as many for each sample's chance.
 * `name`: null: outside of every operator. Null where this processor does not count that.
 */
const countersSchema = z.object({
  method: z.literal("sampled"),
  operators: z.array(z.object({
    name: z.string().nullable(),
    /** Of cycles. */
    samples: count,
    cycles: count,
    instructions: count,
    ipc: z.number().nullable(),
    /** Half of the interval in which it lies in 95 of 100 cases. */
    ipcError: z.number().nullable(),
    cacheReferences: count.nullable(),
    cacheMisses: count.nullable(),
    missRate: ratioOrNull,
    branchMisses: count.nullable(),
    stalledCycles: count.nullable(),
    /** Memory: fewer than one instruction in a cycle, and more than 1 % of references miss; compute: more than two, and fewer than 0.5 %. */
    bound: z.enum(["memory", "compute", "mixed"]).nullable(),
  })),
});

/**
 * Of the graph that took the most time, computed so many `times` (with `--detail sum`: seen with its operators): the longest chain of nodes that are
 * computed one from another, by their mean times. Times are those of one computation, which is the sum of its nodes' mean times on worker 0.
 */
const criticalPathSchema = z.object({
  times: count,
  graphNs: ns,
  graphNodes: count,
  ns,
  nodes: count,
  /** Those that it passes through. */
  layers: z.array(z.int()),
  /** On it, most time first. */
  operators: z.array(z.object({ name: z.string(), nodes: count, ns })),
  /** Of the graph: sources that somebody computes and nobody knows who. Chains through them are not seen. */
  unknownSources: count,
  /** How often graphs were computed of which there were too many to keep: this one, too, may have been before those `times`. */
  notKept: count,
});

const tokenCounts = {
  prefill: count,
  /** Generated: without guesses that were not seen to be right. */
  decode: count,
  /** Of the generated ones, those in calls that had another sequence's prompt, too: these calls and their time are prefill's. */
  besidePrompts: count,
  /** Computed because an engine guessed them, and how many of these were right. */
  guessed: count,
  kept: count,
  prefillCalls: count,
  decodeCalls: count,
};

const tokenSumsSchema = z.object({ ...tokenCounts, prefillNs: ns, decodeNs: ns });

/**
 * What `operators` answers. Times are nanoseconds with the time at which llmprof held the process still taken out. An operator's time is that
 * of worker 0, which is the thread that calls the graph: the rows of `operators` (and of `layers`, and of `tensors`) sum to `time.graphNs`.
 */
export const operatorsResultSchema = z.object({
  /** What was looked at: with `graph` no operators (their rows are empty), with `sample` and `token` no graphs either (their times are null). */
  detail: z.enum(details),
  /** How often, and how long in all, the target was watched: once, or with `--wait` and `--every` again and again. */
  windows: z.object({ count, ns }),
  /** Processes that computed. */
  processes: count,
  /** Of all contexts but those that guess. Open calls had not returned at the end (their tokens are not counted), failed ones returned an error. */
  tokens: z.object({ ...tokenCounts, openCalls: count, failedCalls: count }),
  /**
   * By `llama_context`, most time first. One that `guesses` computes tokens that another one is then tried with (a draft model's). `operators`: of its graphs,
   * where there are several contexts, of the first eight, and shares of their own sum; what workers besides 0 do is in the operators of all alone.
   */
  contexts: z.array(
    z.object({ pid: count, address: z.string(), guesses: z.boolean(), ...tokenSumsSchema.shape, operators: z.array(namedSchema) }),
  ),
  rates: z.object({
    /** Tokens per second of calls of `llama_decode` with a prompt, also those that others generated in them: llama.cpp's "prompt eval". */
    prefillPerSecond: ratioOrNull,
    /** Tokens per second of calls that only generate: llama.cpp's "eval". */
    decodePerSecond: ratioOrNull,
    /** Generated tokens per second of wall time, sampling and everything else between two calls included. */
    generatedPerSecond: ratioOrNull,
  }),
  /** From the beginning of the first `llama_decode` to the first token; null where the prompt came before the window, or nothing was seen to follow it. */
  firstTokenNs: nsOrNull,
  /** From the end of a context's call to the end of its next one that generates; quantiles are off by at most 0.8 %. */
  betweenTokens: z.object({ count, meanNs: ns, p50Ns: ns, p90Ns: ns, p99Ns: ns, maxNs: ns }).nullable(),
  time: z.object({
    decodeNs: ns,
    graphNs: nsOrNull,
    graphsInDecodeNs: nsOrNull,
    /** Of `llama_decode`: other devices than the CPU were asked to compute, something was copied to or from them, or they were waited for. */
    devicesInDecodeNs: ns,
    /** In `llama_decode` and in neither: building it, key-value slots, copying logits. With `--slower-than` of those calls in which graphs were looked at. */
    outsideGraphNs: nsOrNull,
    samplingNs: ns,
    samplingCalls: count,
    /** Between the end of a call and the beginning of the next one that generates. */
    betweenDecodesNs: ns,
    /** Of that, in no call of libllama that is looked at: the engine's own code, or waiting. */
    betweenUnknownNs: ns,
    stoppedNs: ns,
  }),
  /** What else libllama was asked, wherever that was: an encoder's batches; with `--between` text to tokens and back, and state. */
  libraryCalls: z.array(z.object({ name: z.enum(["encode", "tokenize", "detokenize", "save state", "restore state"]), calls: count, ns })),
  /**
   * The cache of keys and values. `cells`: of the largest context that was made in the window, as the engine asked for; `attendedCells`: the most that
   * attention looked at, which are those in use, rounded up as the engine does (llama.cpp: to 256); `longestSequence`: positions up to the highest that a
   * batch ended with; null where that was not seen. `changes`: with `--between`, calls of `llama_memory_seq_rm` and others, by name.
   */
  cache: z.object({
    cells: count.nullable(),
    attendedCells: count.nullable(),
    longestSequence: count.nullable(),
    changes: z.array(z.object({ name: z.string(), calls: count })),
  }),
  graphs: z.object({
    count,
    openCount: count,
    nodes: count,
    withoutOperators: count,
    /** The same of each graph: the mean, and the most. A process that computes several at once is left out. */
    imbalance: z.object({ mean: z.number(), most: z.number() }).nullable(),
  }),
  /**
   * By operator, most time first. Two rows without calls make the sum complete: `graph start`, before a graph's first operator, and
   * `graph rest`, what no operator accounts for.
   */
  operators: z.array(namedSchema),
  /** By transformer layer; null: tensors that belong to none. `stack`: of several in a model, what the weights are called by: `enc`, `dec`. */
  layers: z.array(sumsSchema.extend({ layer: z.int().nullable(), stack: z.string().nullable() })),
  /** By tensor, its layer taken off: `ffn_gate`. */
  tensors: z.array(namedSchema),
  /**
   * Operator slices of each worker: a worker's slice includes its wait for the others, which is `waitNs` of it where that was looked at. `preempted`: how
   * often meanwhile somebody else took its processor, and for how long; null where nobody watched threads (`record` with `sched` does).
   */
  workers: z.array(
    z.object({ worker: count, calls: count, busyNs: ns, waitNs: nsOrNull, preempted: z.object({ times: count, ns }).nullable() }),
  ),
  /** Calls of worker 0 outside of every graph that was seen whole (the window opened in the middle of one). They are in no row. */
  unattachedCalls: count,
  /** Null where no graph was seen whole, or without its operators. */
  criticalPath: criticalPathSchema.nullable(),
  /** With `sample` alone. */
  samples: samplesSchema.nullable(),
  /** With `--sample-every` alone. */
  counters: countersSchema.nullable(),
  /** What the machine can do at most with as many threads as there are workers, per second, as it was measured or follows from fewer and more; null where it was not. */
  ceilings: z.object({
    threads: count,
    memoryBytes: z.number(),
    cacheBytes: z.number().nullable(),
    cacheSize: z.number(),
    cachesSize: z.number(),
    flops: z.number(),
    byteOperations: z.number(),
    bf16Flops: z.number(),
  }).nullable(),
  /** Null where the process has no other device than the CPU to compute on. */
  offload: offloadSchema.nullable(),
  /** Null where no experts were chosen, or no operators looked at. */
  experts: expertsSchema.nullable(),
  /** With `--syscalls` alone. */
  systemCalls: systemCallsSchema.nullable(),
  quality: z.object({ lostEvents: count, undecodableLines: count }),
});

export type TokenSums = z.infer<typeof tokenSumsSchema>;
export type OperatorsResult = z.infer<typeof operatorsResultSchema>;
export type OperatorSumsResult = z.infer<typeof sumsSchema>;
export type CountersResult = z.infer<typeof countersSchema>;
export type CriticalPathResult = z.infer<typeof criticalPathSchema>;
export type ExpertsResult = z.infer<typeof expertsSchema>;
export type BoundResult = z.infer<typeof boundSchema>;
export type PartResult = z.infer<typeof partSchema>;
