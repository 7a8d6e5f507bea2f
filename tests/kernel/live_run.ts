import type { ColdstartResult } from "../../lib/analysis/coldstart_schema.ts";
import type { OperatorsResult } from "../../lib/analysis/operators_schema.ts";
import type { IoResult } from "../../lib/analysis/io_schema.ts";
import type { GpuResult } from "../../lib/analysis/gpu_schema.ts";
import type { SchedResult } from "../../lib/analysis/sched_schema.ts";
import type { Summary } from "../../lib/analysis/summary.ts";
import { type TorchResult, torchResultSchema } from "../../lib/analysis/torch_schema.ts";
import { type Finished, type Running, start } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";
import type { Temporary } from "../harness/temporary.ts";

/** What the commands under test answer. */
export interface Results {
  readonly coldstart: ColdstartResult;
  readonly operators: OperatorsResult;
  readonly sched: SchedResult;
  readonly io: IoResult;
  readonly gpu: GpuResult;
}

export type Command = keyof Results;

export interface LiveOptions {
  /** Path of the bpftrace to use. */
  readonly bpftrace: string;
  /** Where the run's files go. */
  readonly folder: Temporary;
  readonly flags?: readonly string[];
  /** Without one, `coldstart` waits. */
  readonly target?: { readonly pid: number } | { readonly argv: readonly string[] };
  /** Formats to write, by extension; the first is the one that is asked about. */
  readonly formats?: readonly string[];
  readonly timeoutMilliseconds?: number;
  /** Beside what the test's own process has. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Every format that llmprof writes, and the recording of the same lines. */
export const allFormats = ["pftrace", "json", "jsonl", "llmprof"] as const;

/** Where a run in this folder puts a format. */
export function outputPath(folder: Temporary, format: string): string {
  return folder.file(`run.${format}`);
}

/** Starts llmprof from its sources with the permissions of the executable, as a user would; its summary is JSON on stdout. */
export function startLlmprof(command: Command, options: LiveOptions): Running {
  const { bpftrace, folder, flags = [], target, formats = ["pftrace"], timeoutMilliseconds, env } = options;
  const outputs = formats.flatMap((format) => ["-o", outputPath(folder, format)]);
  const which = target === undefined ? [] : "pid" in target ? ["--pid", String(target.pid)] : ["--", ...target.argv];
  const argv = [...llmprof, command, "--bpftrace", bpftrace, "--summary", "json", ...outputs, ...flags, ...which];
  return start(argv, { cwd: folder.path, timeoutMilliseconds, ...env && { env } });
}

/** The summary of a run that had to end with this code; throws what it said otherwise. */
export function summaryOf<C extends Command>(command: C, finished: Finished, code = 0): Summary<Results[C]> {
  const summary = wholeSummaryOf(command, finished, code);
  return {
    ...summary,
    notes: summary.notes.filter((note) => !/trapped, too|others that run the same files|got no processor|not read as fast/.test(note)),
  };
}

/** With notes of other tests' engines that run the same files, and of what kept the processors busy. */
export function wholeSummaryOf<C extends Command>(_command: C, finished: Finished, code = 0): Summary<Results[C]> {
  if (finished.code === code && !finished.timedOut) return JSON.parse(finished.stdout);
  const how = finished.timedOut ? "ran into its time limit" : `ended with ${finished.signal ?? finished.code}`;
  throw new Error(`llmprof ${how}, not ${code}:\n${finished.stderr.slice(-4000)}`);
}

/** The same of a process that computes with PyTorch. */
export function torchSummaryOf(finished: Finished): Summary<TorchResult> {
  const summary: Summary<unknown> = summaryOf("operators", finished);
  return { ...summary, result: torchResultSchema.parse(summary.result) };
}

/** CLOCK_BOOTTIME of a moment in the summary's trace time. */
export function absolute(summary: Pick<Summary<unknown>, "clock">, ns: number): bigint {
  return BigInt(summary.clock.baseNs) + BigInt(Math.round(ns));
}
