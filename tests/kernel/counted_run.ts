import { temporary } from "../harness/temporary.ts";
import { countCalls } from "../independent/calls.ts";
import { type EngineLog, parseEngineLog } from "../workloads/engine_log.ts";
import { engineCommand, type EngineOptions, engineRun, startEngine } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { holdKernelCounters } from "./kernel_counters.ts";
import { absolute, allFormats, outputPath, type Results, startLlmprof, summaryOf } from "./live_run.ts";
import { hasRows, lastCounts } from "./recorded.ts";
import { differingReplays } from "./replayed.ts";
import { slicesOf, type TraceFigures, traceFigures } from "./trace_figures.ts";
import type { Summary } from "../../lib/analysis/summary.ts";

/** How a run is asked for. */
/** Commands that tell of tokens. */
export type Counting = Exclude<keyof Results, "sched" | "io" | "gpu">;

export interface CountedOptions {
  readonly command: Counting;
  /** llmprof starts the engine, or it is told the number of one that waits. */
  readonly by: "start" | "pid";
  readonly bpftrace: string;
  readonly threads?: number;
}

/** One run of a real engine under llmprof, with everything that was counted by anybody. */
export interface Counted {
  readonly log: EngineLog;
  readonly summary: Summary<Results[Counting]>;
  readonly trace: TraceFigures;
  /** `@n` of each program: what bpftool dumped when all was over, and the last that the program itself printed. */
  readonly kernel: { readonly dumped: readonly number[]; readonly printed: readonly number[] };
  readonly transport: "rotating maps" | "lines, reader paused";
  /** Formats in which a replay of the recording gave other bytes than the run. */
  readonly differ: readonly string[];
  readonly firstToken: FirstToken;
}

/** Moments that are in this order, however long a busy machine takes between two of them. CLOCK_BOOTTIME. */
export interface FirstToken {
  /** The script was about to hand over what it is computed from. */
  readonly asked: bigint;
  /** By the trace the first call began, and was over: all of the prompt is in it. */
  readonly called: bigint;
  readonly computed: bigint;
  /** When it came by llmprof: at the end of that call or of a sampling behind it. Added up of rounded times. */
  readonly told: bigint;
  /** The script had it. */
  readonly had: bigint;
  /** By the trace the next call, for which the script needs it, was over. */
  readonly used: bigint;
}

const tokens = 20;

/** Runs it on the tiny model: what is looked at is the count. The prompt fits into one batch, so that every graph has the same operators. */
export async function countedRun({ command, by, bpftrace, threads = 1 }: CountedOptions): Promise<Counted> {
  using folder = temporary();
  const [log, waitFile] = [folder.file("log"), folder.file("go")];
  const options: EngineOptions = { model: model("tiny"), tokens, threads, log, waitFile };
  await using engine = by === "pid" ? startEngine(options) : undefined;
  await engine?.saw('"waiting"');
  const target = engine ? { pid: engine.pid } : { argv: engineCommand(options) };
  await using llmprof = startLlmprof(command, { bpftrace, folder, target, formats: allFormats });
  // In either case: all is attached, and nothing has been decoded yet.
  await llmprof.saw(engine ? "Tracing process" : '"waiting"');
  await using counters = await holdKernelCounters(llmprof.pid);
  Deno.writeTextFileSync(waitFile, "");
  const summary = summaryOf(command, await llmprof.finished());
  const said = parseEngineLog(Deno.readTextFileSync(log));
  return {
    log: said,
    summary,
    trace: await traceFigures(outputPath(folder, "pftrace")),
    kernel: { dumped: await counters.read(), printed: lastCounts(outputPath(folder, "llmprof")) },
    transport: hasRows(outputPath(folder, "llmprof")) ? "rotating maps" : "lines, reader paused",
    differ: await differingReplays(folder, ["pftrace", "json", "jsonl"]),
    firstToken: await firstToken(outputPath(folder, "pftrace"), summary, said),
  };
}

/** `coldstart` counts from exec, in time at which nothing was stopped; `operators` from the beginning of the first `llama_decode`. */
async function firstToken(path: string, summary: Summary<Results[Counting]>, { times }: EngineLog): Promise<FirstToken> {
  const { result } = summary, [first, second] = await slicesOf(path, "llama.decode");
  const told = "firstTokenNs" in result
    ? first!.start + BigInt(result.firstTokenNs!)
    : absolute(summary, result.root!.execNs + result.timeToFirstTokenNs! + result.stoppedNs);
  return { asked: times.firstBatch, called: first!.start, computed: first!.end, told, had: times.firstToken, used: second!.end };
}

const perGraph = new Map<string, Promise<number>>();

/** Operators that one graph of the tiny model starts on one thread, counted by a program that shares nothing with llmprof, in a run without it. */
export function operatorsPerGraph(bpftrace: string): Promise<number> {
  let known = perGraph.get(bpftrace);
  if (!known) perGraph.set(bpftrace, known = countOperators(bpftrace));
  return known;
}

async function countOperators(bpftrace: string): Promise<number> {
  const options = { model: model("tiny"), tokens: 1 };
  const functions = { [(await engineRun(options)).files.libggmlCpu]: ["ggml_cpu_extra_compute_forward"] };
  const { of, value } = await countCalls({ bpftrace, functions, whileRunning: () => engineRun(options) });
  return of("ggml_cpu_extra_compute_forward", value.pid) / value.decodes;
}
