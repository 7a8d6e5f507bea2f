import type { GpuCall, GpuFileUse, HeldBlock } from "./gpu.ts";
import type { Ns } from "./time.ts";
import type { Affinity, Limits, Pressure } from "./surroundings.ts";

/** Where spans are drawn. Identity is the object; `id` is dense from 1 in order of first use, so a replay numbers them alike. */
export interface Track {
  readonly id: number;
  /** `run`: llmprof's own; `process` and `thread`: the system's; `lane`: a named row inside a process (a ggml worker, cold-start phases); `counter`: numbers over time. */
  readonly kind: "run" | "process" | "thread" | "lane" | "counter";
  readonly name: string;
  /** 0 for `run`. */
  readonly pid: number;
  readonly tid?: number;
  /** For `counter`: `bytes`, `faults` … */
  readonly unit?: string;
  /** Of a counter of a file. */
  readonly file?: { readonly dev: number; readonly inode: number };
  /** Of a counter that is one of many alike: what they are together. */
  readonly group?: string;
  /** Orders lanes of one process; smaller is higher. */
  readonly rank?: number;
}

export type Args = Readonly<Record<string, string | number | boolean>>;

/** A node of a graph that an engine computes, and what it is computed from. */
export interface GraphNode {
  /** Where the engine keeps it: what its successors name as their source. */
  readonly address: number;
  readonly op: string;
  /** What its slices are called: with the operators that the engine fused with it, where it did. */
  readonly label?: string;
  readonly name: string;
  readonly shape: string;
  readonly layer: number | undefined;
  /** By place; empty places are undefined. */
  readonly sources: readonly (GraphSource | undefined)[];
  /** Where it has no memory of its own: the tensor into whose memory it writes, such as what it is computed from, or a cache. */
  readonly into?: number | undefined;
}

export interface GraphSource {
  /** What the engine names; 0: a recording of before that was told. */
  readonly address: number;
  /** Of the node whose memory it is, also where it is a view of that. */
  readonly root: number;
  /** What that is computed from first, and so on: one of them is a node where that was fused with others into one. */
  readonly behind: readonly number[];
  readonly name: string;
  /** Nobody computes it: a weight, an input, a cache. */
  readonly cold?: boolean;
}

/** The experts of a layer to which a router sent the tokens of a batch. */
export interface ExpertChoice {
  readonly layer: number | undefined;
  /** How many there are; undefined where that is not known. */
  readonly experts: number | undefined;
  /** How many of them each token goes to. */
  readonly used: number;
  readonly tokens: number;
  /** Expert → tokens that go to it. */
  readonly chosen: ReadonlyMap<number, number>;
  /** Choices of these tokens that could not be read. */
  readonly unread: number;
}

/** Calls of an operator that were added up in the kernel. */
export interface OperatorSum {
  /** What each of its slices says of itself: one object for all that is told of the same operator. */
  readonly of: Args;
  readonly calls: number;
  /** Of them, those whose end was seen, and how long they took. */
  readonly timed: number;
  readonly ns: number;
  /** From the beginning of their graphs to them, where they are the first. */
  readonly startNs: number;
}

/** `traces`: it is llmprof's, or a bpftrace of its. */
export interface Taker {
  readonly tid: number;
  readonly name: string;
  readonly traces: boolean;
}

/** A time in which a thread was on no processor. */
export interface OffCpu {
  /** Such as `lock`, see probes/sched/reason.ts. */
  readonly reason: string;
  /** The system call that it was in. */
  readonly call?: string;
  /** At its end: when it could have run, and no processor did. */
  readonly queuedNs: number;
  /** Null: an interrupt, or nobody. */
  readonly waker: { readonly pid: number; readonly tid: number; readonly name: string } | null;
  /** Who took the processor from it. */
  readonly taker: Taker | null;
  /** The processor that it left, and that on which it runs again. */
  readonly from: number;
  readonly cpu: number;
  /** It runs on another processor than before. */
  readonly migrated: boolean;
  /** How it came there, where that was asked for: the number of a {@link SeenStack}. */
  readonly stack?: number;
  /** So many short times off of that thread, one soon after another, and nanoseconds of them all; `queuedNs` is of them all, too. */
  readonly run?: { readonly thread: Track; readonly times: number; readonly ns: number };
}

/** Who called whom, the innermost first, in words. Told at the end. */
export interface SeenStack {
  readonly id: number;
  readonly frames: readonly string[];
}

/** A request to a block device, from being handed to it until it answered. */
export interface BlockRequest {
  /** `7:0`. */
  readonly device: string;
  readonly what: "read" | "write" | "discard" | "flush" | "other";
  readonly bytes: number;
  /** Before, from being made. */
  readonly queuedNs: number;
  /** Who made it. */
  readonly thread: number;
  /** Requests of its thread that begin where another one ends: how many more there are with this one. */
  readonly sequential: number;
  /** 0: none. */
  readonly error: number;
}

/** What was added up in an interval: of requests to disks, or of processes. */
export interface IntervalTotals {
  /** By device and power of two of a microsecond. */
  readonly latency?: readonly { readonly device: string; readonly slot: number; readonly count: number }[];
  readonly inflight?: readonly { readonly device: string; readonly count: number }[];
  /** Names of devices, as far as they are known by now. */
  readonly names?: ReadonlyMap<string, string>;
  readonly offCpuNs?: ReadonlyMap<number, number>;
  readonly pageFaults?: ReadonlyMap<number, number>;
  /** Of those processes, as far as they are known by now. */
  readonly processNames?: ReadonlyMap<number, string>;
  readonly pressure?: Pressure;
  /** How much more the wall clock says by then than the run's header would have it: 0 where nobody has set it. */
  readonly wallShiftMs?: number;
}

/** Page faults in a tensor of a model's file; null: before the first one. */
export interface TensorFaults {
  readonly tensor: string | null;
  readonly faults: number;
  /** Of them, those that waited for the disk, and how long. */
  readonly major: number;
  readonly majorNs: number;
}

/** Page faults of a thread, as far as they were told. */
export interface ThreadFaults extends Omit<TensorFaults, "tensor"> {
  readonly tid: number;
}

/** What a processor counts by itself. */
export type CountedEvent = "cycles" | "instructions" | "cache references" | "cache misses" | "branch misses" | "stalled cycles";

/** So many events more, the last of them while a thread computed this operator; null: none that was seen. */
export interface Counted {
  readonly event: CountedEvent;
  readonly count: number;
  readonly operator: string | null;
}

/** A part of a graph, and which device computes it: one object for what is computed again and again. */
export interface Placement {
  readonly device: string;
  readonly nodes: number;
  /** By their place: those that were told of until now. */
  readonly told: Map<number, { readonly op: string; readonly name: string; readonly layer: number | undefined }>;
}

/** Something with a beginning and an end. Emitted when it ends; of slices on one track that begin together the outer is emitted first. */
export interface Slice {
  readonly type: "slice";
  readonly track: Track;
  readonly name: string;
  /** What kind of thing this is, such as `ggml.op` or `llama.decode`: the key by which analysis selects. */
  readonly category: string;
  readonly start: Ns;
  readonly end: Ns;
  readonly args?: Args;
  /** Of a lane: the thread that it was on. */
  readonly tid?: number;
  /** It had not ended when the run did (or had begun before it): the duration is a lower bound. */
  readonly open?: boolean;
  /** What it computes, on the thread that asked for the graph; one object for a node that is computed again and again. */
  readonly node?: GraphNode | undefined;
  readonly placed?: Placement;
  readonly off?: OffCpu;
  readonly block?: BlockRequest;
  readonly gpu?: GpuCall;
  readonly file?: GpuFileUse;
}

/** What slices say of themselves that are told again and again: one object for all of them. */
export type Link = Pick<Slice, "name" | "args" | "node">;

/**
 * {@link Slice}s of a row of which each ends where the next begins. They come by the hundred thousand a second: an object for each of them is most of the
 * work that they make. Who looks at slices one by one takes `slicesOf` it (chain.ts).
 */
export interface Chain {
  readonly type: "chain";
  readonly track: Track;
  readonly category: string;
  /** See {@link Slice.tid}. */
  readonly tid?: number;
  readonly links: readonly Link[];
  /** Where each begins, and where the last one ends: one more than there are links. */
  readonly times: readonly Ns[];
}

export interface Instant {
  readonly type: "instant";
  readonly track: Track;
  readonly name: string;
  readonly category: string;
  readonly at: Ns;
  readonly args?: Args;
  readonly choice?: ExpertChoice;
  readonly sum?: OperatorSum;
  readonly counted?: Counted;
  readonly totals?: IntervalTotals;
  readonly touched?: readonly TensorFaults[];
  readonly faulted?: readonly ThreadFaults[];
  readonly limits?: Limits;
  readonly affinity?: Affinity;
  readonly stack?: SeenStack;
  readonly held?: HeldBlock;
  readonly file?: GpuFileUse;
  /** Of a thread with which its process ends. */
  readonly ended?: ProcessEnd;
}

/** How a process has ended: its exit code, and the signal that killed it, 0 where none did. */
export interface ProcessEnd {
  readonly code: number;
  readonly signal: number;
}

export interface Counter {
  readonly type: "counter";
  readonly track: Track;
  readonly at: Ns;
  readonly value: number;
  /** Of a rate, what it is the growth of. */
  readonly total?: number;
}

/** Gives a process or thread the name that it now has (it called `exec` or renamed itself). */
export interface Name {
  readonly type: "name";
  readonly track: Track;
  readonly name: string;
  readonly at: Ns;
}

/** Something that the reader of the trace must know about the trace itself. */
export interface Mark {
  readonly type: "mark";
  readonly at: Ns;
  readonly kind: "lost" | "undecodable" | "window" | "ended" | "note";
  readonly stream: string;
  readonly text: string;
  /** For `lost` and `undecodable`: how many events. */
  readonly count?: number;
  /** For `window`: whether it opened. */
  readonly open?: boolean;
}

export type Span = Slice | Chain | Instant | Counter | Name | Mark;

/** Receives spans in the order in which they end; slices in a chain when that ends. */
export type SpanSink = (span: Span) => void;
