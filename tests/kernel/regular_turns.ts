import { temporary } from "../harness/temporary.ts";
import { busyEngine } from "../workloads/engine_run.ts";
import { outputPath, startLlmprof, summaryOf } from "./live_run.ts";
import { inTurns, slicesOf } from "./trace_figures.ts";

/** A minute in which an engine was watched for two seconds of every ten. Milliseconds. */
export interface RegularTurns {
  /** As many as llmprof says that it watched. */
  readonly windows: number;
  /** By what the trace has of an engine that never rests: how long each was, and how much later it began than a first one every ten seconds asks for. */
  readonly lengths: readonly number[];
  readonly late: readonly number[];
  readonly lost: number;
}

export const asked = { turns: 6, forMs: 2000, everyMs: 10_000 } as const;

export async function regularTurns(bpftrace: string): Promise<RegularTurns> {
  using folder = temporary();
  await using engine = await busyEngine(folder, "small");
  const flags = ["--every", `${asked.everyMs}ms`, "--for", `${asked.forMs}ms`, "--duration", `${asked.turns * asked.everyMs}ms`];
  await using llmprof = startLlmprof("operators", { bpftrace, folder, target: { pid: engine.pid }, flags });
  const { result, events } = summaryOf("operators", await llmprof.finished());
  await engine.end();
  const turns = inTurns(await slicesOf(outputPath(folder, "pftrace"), "llama.decode"));
  const ms = (from: bigint, to: bigint) => Number(to - from) / 1e6;
  return {
    windows: result.windows.count,
    lengths: turns.map((turn) => ms(turn[0]!.start, turn.at(-1)!.end)),
    late: turns.map((turn, i) => ms(turns[0]![0]!.start, turn[0]!.start) - i * asked.everyMs),
    lost: events.lost,
  };
}
