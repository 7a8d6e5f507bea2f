import assert from "node:assert/strict";
import { temporary } from "../harness/temporary.ts";
import { measureDurations, median, mulMatFunctions } from "../independent/durations.ts";
import { query } from "../judge/trace_processor.ts";
import { parseEngineLog } from "../workloads/engine_log.ts";
import { engineCommand, engineRun } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { shapes } from "../workloads/shapes.ts";
import { outputPath, startLlmprof, summaryOf } from "./live_run.ts";

/** Products with the widest weights: each takes well over a millisecond. */
const families = ["ffn_gate", "ffn_up", "ffn_out"] as const;
/** One token a call, so that every call does the same work. */
const work = { prompt: 1, tokens: 30 };
/** Graphs in a stretch. */
const stretch = 3;
const turns = 2;

/** Durations in milliseconds, by llmprof's slices and by the entry and return of the operator's own function, in separate runs. */
export interface Medians {
  readonly family: string;
  readonly calls: { readonly ours: number; readonly theirs: number };
  /** Of the stretch in which the machine was quietest: what else it does, another process reading memory above all, only adds time. */
  readonly ours: number;
  readonly theirs: number;
  /** Of all calls. */
  readonly all: { readonly ours: number; readonly theirs: number };
}

export async function operatorMedians(bpftrace: string): Promise<Medians[]> {
  const large = model("large");
  const { files } = await engineRun({ model: large, prompt: 1, tokens: 1 });
  const [ours, theirs]: Call[][][] = [[], []];
  // In turns: how busy the machine is changes within seconds.
  for (let turn = 0; turn < turns; turn++) {
    ours!.push(await traced(bpftrace, large));
    const whileRunning = () => engineRun({ model: large, ...work });
    const { calls, value } = await measureDurations({ bpftrace, library: files.libggmlCpu, functions: mulMatFunctions, whileRunning });
    theirs!.push(calls.filter(({ pid }) => pid === value.pid));
  }
  return families.map((family) => {
    const [our, their] = [ours!, theirs!].map((runs) => runs.map((calls) => durations(calls, family)));
    return {
      family,
      calls: { ours: our!.flat().length, theirs: their!.flat().length },
      ours: quietest(our!),
      theirs: quietest(their!),
      all: { ours: median(our!.flat()), theirs: median(their!.flat()) },
    };
  });
}

interface Call {
  readonly tensor: string;
  readonly durationNs: number;
}

/** Each product of a run under llmprof, in order. */
async function traced(bpftrace: string, large: string): Promise<Call[]> {
  using folder = temporary();
  const log = folder.file("log");
  await using llmprof = startLlmprof("operators", { bpftrace, folder, target: { argv: engineCommand({ model: large, ...work, log }) } });
  const { events } = summaryOf("operators", await llmprof.finished());
  assert.deepEqual([events.lost, parseEngineLog(Deno.readTextFileSync(log)).decodes], [0, work.tokens]);
  const rows = await query(
    outputPath(folder, "pftrace"),
    `select s.dur, a.string_value as tensor from slice s join args a using (arg_set_id)
     where s.category = 'ggml.op' and s.name = 'MUL_MAT' and a.key = 'debug.tensor' order by s.ts`,
  );
  return rows.map(({ dur, tensor }) => ({ tensor: String(tensor), durationNs: Number(dur) }));
}

/** `ffn_up-3` belongs to `ffn_up`. */
function durations(calls: readonly Call[], family: string): number[] {
  return calls.filter(({ tensor }) => tensor.replace(/-\d+$/, "") === family).map(({ durationNs }) => durationNs / 1e6);
}

function quietest(runs: readonly (readonly number[])[]): number {
  const length = stretch * shapes.large.layers;
  const stretches = runs.flatMap((run) => Array.from({ length: Math.floor(run.length / length) }, (_, n) => run.slice(n * length, (n + 1) * length)));
  return Math.min(...stretches.map(median));
}
