import { mustRun } from "../harness/command.ts";
import { toldOnly } from "./told_only.ts";
import { quoted, trace } from "./trace.ts";

/** A function that computes one operator from beginning to end. */
export interface OperatorFunction {
  /** Mangled; `*` stands for any characters. */
  readonly symbol: string;
  /** Which argument, from 0, is the destination tensor. */
  readonly tensorArgument: number;
}

/**
 * Where a matrix product with Q4_0 weights is computed: in a repacked layout where the CPU has the instructions for it (a method: argument 0
 * is `this`), in tiles where it has those, otherwise in the plain function. One call is one thread's share of one product, the wait for the others included.
 */
export const mulMatFunctions: readonly OperatorFunction[] = [
  { symbol: "_ZN4ggml3cpu6repack13tensor_traitsI10block_q4_0*forward_mul_matEP*", tensorArgument: 2 },
  { symbol: "_Z24ggml_backend_amx_mul_matPK19ggml_compute_paramsP11ggml_tensor", tensorArgument: 1 },
  { symbol: "ggml_compute_forward_mul_mat", tensorArgument: 1 },
];

export interface MeasureDurations<T> {
  readonly bpftrace: string;
  readonly library: string;
  readonly functions: readonly OperatorFunction[];
  /** Path of the program, of a name that nobody else's has, whose processes alone are told; all that map the library when absent. */
  readonly program?: string;
  readonly whileRunning: () => Promise<T>;
}

/** One call from entry to return. */
export interface Call {
  readonly pid: number;
  readonly tid: number;
  /** Name of the tensor that it computed, such as `ffn_up-3`; the first 31 bytes. */
  readonly tensor: string;
  readonly start: bigint;
  readonly durationNs: number;
}

/** Offset of `name` in `struct ggml_tensor`. */
const tensorName = 256;

/**
 * How long each call of an operator's own function took, by a uprobe and a uretprobe. What it says includes the cost of returning through
 * the kernel (1 to 10 µs), so compare only calls that take long.
 */
export async function measureDurations<T>(options: MeasureDurations<T>): Promise<{ calls: Call[]; value: T }> {
  const { library } = options;
  // Newer versions of bpftrace refuse a program when one of its names is nowhere; which there are depends on the processor.
  const { stdout: names } = await mustRun(["nm", "-D", "--defined-only", library]);
  const functions = options.functions.filter(({ symbol }) => symbol.includes("*") || names.includes(` T ${symbol}\n`));
  const { probe, isTold } = toldOnly(options.program);
  const entries = functions.map(({ symbol, tensorArgument }) => `
uprobe:${quoted(library)}:${quoted(symbol)} / ${isTold} / { @tensor[tid] = arg${tensorArgument}; @start[tid] = nsecs; }`);
  const returns = functions.map(({ symbol }) => `uretprobe:${quoted(library)}:${quoted(symbol)}`);
  const program = `${probe}${entries.join("")}
${returns.join(",\n")} /@start[tid]/ {
  printf("call %d %d %llu %llu %s\\n", pid, tid, @start[tid], nsecs - @start[tid], str(@tensor[tid] + ${tensorName}, 32));
  delete(@start[tid]);
  delete(@tensor[tid]);
}`;
  const { stdout, value } = await trace(options.bpftrace, program, options.whileRunning);
  const calls = [...stdout.matchAll(/^call (\d+) (\d+) (\d+) (\d+) (.*)$/gm)].map(([, pid, tid, start, duration, tensor]) => ({
    pid: Number(pid),
    tid: Number(tid),
    tensor: tensor!,
    start: BigInt(start!),
    durationNs: Number(duration),
  }));
  return { calls, value };
}

/** The middle value: of an even number the mean of the two in the middle. NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
