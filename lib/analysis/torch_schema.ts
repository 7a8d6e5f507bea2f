import * as z from "zod";
import { systemCallsSchema } from "./system_calls_schema.ts";

const count = z.int().nonnegative();
/** A sum of nanoseconds. */
const ns = z.number();

const sumsSchema = z.object({
  /** Calls that began and ended while operators were timed. */
  calls: count,
  /** With the operators that they ask for. */
  totalNs: ns,
  /** Without. */
  selfNs: ns,
});

/**
 * What `operators` answers of a process that computes with PyTorch. Operators are called as `at::_ops` does: name and overload, `add_Tensor`. They nest
 * (`linear` asks for `addmm`): what is on the outside has the time of what is inside, and the rows' `selfNs` sum to `time.operatorsNs`.
 */
export const torchResultSchema = z.object({
  engine: z.literal("torch"),
  /** How often, and how long in all, operators were timed. */
  windows: z.object({ count, ns }),
  /** How long before it was learned which operators run; null: all that there are were timed. */
  learnedNs: ns.nullable(),
  /** Processes that computed. */
  processes: count,
  time: z.object({
    /** In operators, by all threads together. */
    operatorsNs: ns,
    stoppedNs: ns,
  }),
  /** Most time of their own first. Quantiles of whole calls, off by at most 0.8 %. */
  operators: z.array(sumsSchema.extend({ name: z.string(), meanNs: ns, p50Ns: ns, p99Ns: ns, maxNs: ns })),
  /**
   * With `--shapes`: the same by the shapes of the tensors that come first among its arguments (`1×16×64, 64×64`; `[]` without dimensions, `?` what could not
   * be read). Null where none was read: nobody asked, or this PyTorch lays out its tensors as none that is known.
   */
  shapes: z.array(sumsSchema.extend({ name: z.string(), shapes: z.string() })).nullable(),
  /** Which operator asked for which, and how often; null: no operator did. */
  nesting: z.array(z.object({ outer: z.string().nullable(), inner: z.string(), calls: count, totalNs: ns })),
  /**
   * What a thread computed between two pauses, times without an operator that were ten times as long as usual, 50 µs at least: the passes through a
   * model. Those that asked for the same operators in the same order are of one kind, with what interrupted them in between; most time first.
   */
  passes: z.object({
    /** `calls`: of operators, without those inside of others. `beforeP50Ns`: without an operator, before it; null: nothing was seen before. */
    kinds: z.array(z.object({
      first: z.string(),
      last: z.string(),
      calls: count,
      times: count,
      totalNs: ns,
      p50Ns: ns,
      p99Ns: ns,
      maxNs: ns,
      beforeP50Ns: ns.nullable(),
    })),
    /** What came once, or was seen in part. */
    others: z.object({ times: count, totalNs: ns }),
  }),
  /** `operatorsNs` of each, and its time between the first one's beginning and the last one's end in which it was in none: the program's own, or waiting. */
  threads: z.array(z.object({ pid: count, tid: count, calls: count, operatorsNs: ns, betweenNs: ns, longestGapNs: ns })),
  /** With `--syscalls` alone. */
  systemCalls: systemCallsSchema.nullable(),
  quality: z.object({ lostEvents: count, undecodableLines: count }),
});

export type TorchResult = z.infer<typeof torchResultSchema>;
