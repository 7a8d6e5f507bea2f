import { setTimeout as pause } from "node:timers/promises";
import { start } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";
import type { Temporary } from "../harness/temporary.ts";
import type { OperatorsResult } from "../../lib/analysis/operators_schema.ts";
import type { Summary } from "../../lib/analysis/summary.ts";
import { writeRecording } from "../workloads/recording.ts";

export interface ReplayMemory {
  readonly calls: number;
  readonly ops: number;
  /** Lost and not understood. */
  readonly wrong: number;
  readonly peakBytes: number;
  /** Path of what it wrote. */
  readonly trace: string;
}

/** Replays a made-up recording of so many operators in a process of its own and watches what it takes. */
export async function replayMemory(folder: Temporary, ops: number): Promise<ReplayMemory> {
  const name = folder.file(`${ops}-${crypto.randomUUID()}`), recording = `${name}.llmprof`, trace = `${name}.pftrace`;
  const calls = writeRecording(recording, ops);
  const argv = [...llmprof, "export", recording, "-o", trace, "--summary", "json"];
  await using child = start(argv, { timeoutMilliseconds: 600_000 });
  let peakBytes = 0, over = false;
  void child.finished().then(() => over = true);
  // The kernel keeps the highest value itself, so that what is missed is only the end, when files are closed.
  for (; !over; await pause(5)) peakBytes = Math.max(peakBytes, highWater(child.pid));
  const { stdout } = await child.succeeded();
  const { events, result }: Summary<OperatorsResult> = JSON.parse(stdout);
  return { calls, ops: result.workers.reduce((sum, worker) => sum + worker.calls, 0), wrong: events.lost + events.undecodable, peakBytes, trace };
}

/** `VmHWM:   123456 kB`; 0 when the process is gone. */
function highWater(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(Deno.readTextFileSync(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
