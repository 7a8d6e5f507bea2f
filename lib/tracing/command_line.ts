/** How a program is given to bpftrace, in a form that works from 0.16 to 0.27. */
export interface Invocation {
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
}

export interface InvocationOptions {
  /** Pages of the buffer between kernel and bpftrace; a power of two. */
  readonly bufferPages: number;
  readonly unsafe: boolean;
  /** Of symbol tables that llmprof has written. */
  readonly symbols?: Readonly<Record<string, string>>;
  /** Path of a list of the kernel's functions that may be traced. */
  readonly traceable?: string;
  /** Every record is written at once and not a block at a time: for a program whose records are acted on. */
  readonly prompt: boolean;
  /** Entries of each map; a power of two. */
  readonly mapKeys: number;
  /** It reports lost events as warnings (from 0.24 on): they may not be silenced. */
  readonly warnsOfLoss: boolean;
}

/** Entries of a map: tensors of a graph, threads of a server. */
export const DEFAULT_MAP_KEYS = 65536;

export function invocation(options: InvocationOptions): Invocation {
  return {
    env: {
      ...options.symbols,
      BPFTRACE_PERF_RB_PAGES: String(options.bufferPages),
      // The older and the newer spelling; each version heeds one.
      BPFTRACE_MAP_KEYS_MAX: String(options.mapKeys),
      BPFTRACE_MAX_MAP_KEYS: String(options.mapKeys),
      // Twice the longest literal length in a template: 0.23 writes past its buffer, and the verifier refuses, when both are 64.
      BPFTRACE_MAX_STRLEN: "128",
    },
    args: [
      ...(options.unsafe ? ["--unsafe"] : []),
      ...(options.traceable === undefined ? [] : ["--traceable-functions", options.traceable]),
      "-q",
      ...(options.warnsOfLoss ? [] : ["--no-warnings"]),
      "-B",
      options.prompt ? "line" : "full",
      "-f",
      "text",
      "-",
    ],
  };
}
