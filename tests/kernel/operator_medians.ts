import assert from "node:assert/strict";
import { temporary } from "../harness/temporary.ts";
import { measureDurations, median, mulMatFunctions } from "../independent/durations.ts";
import { query } from "../judge/trace_processor.ts";
import { parseEngineLog } from "../workloads/engine_log.ts";
import { engineCommand, engineRun } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { outputPath, startLlmprof, summaryOf } from "./live_run.ts";

/** Products with the widest weights: each takes well over a millisecond. */
const families = ["ffn_gate", "ffn_up", "ffn_out"] as const;
/** One token a call, so that every call does the same work. */
const work = { prompt: 1, tokens: 60 };

/** Durations in milliseconds, by llmprof's slices and by the entry and return of the operator's own function. */
export interface Medians {
  readonly family: string;
  readonly calls: number;
  readonly ours: number;
  readonly theirs: number;
  /** How much longer llmprof's slice of a call is than the function's own time in the same call: the middle one, and that of the worst of twenty. */
  readonly off: number;
  readonly worst: number;
}

/** Of the same calls: whatever else the machine does meanwhile is in both, and so is what both cost. */
export async function operatorMedians(bpftrace: string): Promise<Medians[]> {
  const large = model("large");
  const { files } = await engineRun({ model: large, prompt: 1, tokens: 1 });
  const whileRunning = () => traced(bpftrace, large);
  const { calls, value: { pid, products } } = await measureDurations({
    bpftrace,
    library: files.libggmlCpu,
    functions: mulMatFunctions,
    whileRunning,
  });
  const own = calls.filter((call) => call.pid === pid);
  return families.map((family) => {
    const [ours, theirs] = [products, own].map((calls) => calls.filter(({ tensor }) => tensor.replace(/-\d+$/, "") === family)) as [Call[], Call[]];
    assert.deepEqual(ours.map(({ tensor }) => tensor), theirs.map(({ tensor }) => tensor));
    const off = ours.map(({ durationNs }, i) => durationNs / theirs[i]!.durationNs - 1).sort((a, b) => a - b);
    const ms = (calls: readonly Call[]) => median(calls.map(({ durationNs }) => durationNs / 1e6));
    return { family, calls: ours.length, ours: ms(ours), theirs: ms(theirs), off: median(off), worst: off[Math.floor(0.95 * off.length)]! };
  });
}

interface Call {
  readonly tensor: string;
  readonly durationNs: number;
}

/** Each product of a run under llmprof, in order. */
async function traced(bpftrace: string, large: string): Promise<{ pid: number; products: Call[] }> {
  using folder = temporary();
  const log = folder.file("log");
  await using llmprof = startLlmprof("operators", { bpftrace, folder, target: { argv: engineCommand({ model: large, ...work, log }) } });
  const { events, target } = summaryOf("operators", await llmprof.finished());
  assert.deepEqual([events.lost, parseEngineLog(Deno.readTextFileSync(log)).decodes], [0, work.tokens]);
  const rows = await query(
    outputPath(folder, "pftrace"),
    `select s.dur, a.string_value as tensor from slice s join args a using (arg_set_id)
     where s.category = 'ggml.op' and s.name = 'MUL_MAT' and a.key = 'debug.tensor' order by s.ts`,
  );
  return { pid: target!.pid, products: rows.map(({ dur, tensor }) => ({ tensor: String(tensor), durationNs: Number(dur) })) };
}
