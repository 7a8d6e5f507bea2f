import type { Bpftrace } from "../harness/bpftraces.ts";
import { type Counted, countedRun, operatorsPerGraph } from "./counted_run.ts";
import { stoppedNs } from "./trace_figures.ts";

/** A counted run. */
export interface CountedRow extends Counted {
  /** Everything is counted and told as it happened. */
  readonly exact: boolean;
  /** For how long the target stood at gates. */
  readonly stoppedMs: number;
  /** For a table. */
  readonly cells: readonly string[];
}

const ways = [
  { command: "operators", by: "start", threads: 1 },
  { command: "operators", by: "pid", threads: 2 },
  { command: "coldstart", by: "start", threads: 1 },
] as const;

/** Each way to trace an engine, so many times. */
export async function* countedRows(bpftrace: Bpftrace, runs: number): AsyncGenerator<CountedRow> {
  const perGraph = await operatorsPerGraph(bpftrace.path);
  for (const way of ways) {
    for (let run = 1; run <= runs; run++) {
      const counted = await countedRun({ ...way, bpftrace: bpftrace.path });
      const { log, summary, trace, kernel, differ, firstToken: { had, told } } = counted;
      const { emitted, received, lost } = summary.events;
      const firstTokenOffMs = Number(had - told) / 1e6;
      const ops = way.command === "operators" ? log.decodes * perGraph * way.threads : 0;
      const [dumped, printed] = [kernel.dumped.join("+"), kernel.printed.join("+")];
      const exact = trace.errors.length === 0 && trace.decodes === log.decodes && trace.ops === ops && emitted === received && lost === 0 &&
        dumped === printed && differ.length === 0 && Math.abs(firstTokenOffMs) <= 10;
      const stoppedMs = stoppedNs(trace) / 1e6;
      const cells = [
        `${bpftrace.name} ${way.command} by ${way.by} ${run}/${runs}`,
        `decodes ${trace.decodes}=${log.decodes}`,
        `ops ${trace.ops}=${ops}`,
        `emitted ${emitted} received ${received} lost ${lost}`,
        `kernel ${dumped}=${printed}`,
        `stopped ${stoppedMs.toFixed(0)} ms (${trace.stops.map((stop) => (stop / 1e6).toFixed(0)).join("+")})`,
        `first token ${firstTokenOffMs.toFixed(1)} ms`,
        `stats ${trace.errors.length}`,
        `replay differs in ${differ.length}`,
      ];
      yield { ...counted, exact, stoppedMs, cells };
    }
  }
}
