/**
 * Repeats what the kernel tests count, five times with every bpftrace that is here, and prints the figures: for a note, not for a gate. A row that
 * is not as it should be begins with `!`.
 *
 *     deno run -A tests/kernel/acceptance.ts [--runs 5] [--bpftrace 0.23]
 */
import { parseArgs } from "node:util";
import { type Bpftrace, bpftraces } from "../harness/bpftraces.ts";
import { type Counted, countedRun, operatorsPerGraph } from "./counted_run.ts";
import { plantedCalls } from "../workloads/planted.ts";
import { operatorMedians } from "./operator_medians.ts";
import { isExact, plantedRun } from "./planted_run.ts";
import { replayMemory } from "./replay_memory.ts";
import { stoppedNs } from "./trace_figures.ts";

const { values } = parseArgs({ options: { runs: { type: "string", default: "5" }, bpftrace: { type: "string" } } });
const runs = Number(values.runs);
const chosen = bpftraces().filter(({ name }) => values.bpftrace === undefined || name === values.bpftrace);
if (!(runs >= 1) || chosen.length === 0) throw new Error("How often, with which bpftrace? acceptance.ts --runs 5 --bpftrace 0.23");

const ways = [
  { command: "operators", by: "start", threads: 1 },
  { command: "operators", by: "pid", threads: 2 },
  { command: "coldstart", by: "start", threads: 1 },
] as const;

function print(good: boolean, ...cells: readonly (string | number)[]): void {
  console.log([good ? " " : "!", ...cells].join("  "));
}

async function counted(bpftrace: Bpftrace): Promise<void> {
  const perGraph = await operatorsPerGraph(bpftrace.path);
  console.log(`  bpftrace ${bpftrace.name}: ${perGraph} operators a graph by the independent count`);
  for (const way of ways) {
    for (let run = 1; run <= runs; run++) {
      const { log, summary, trace, kernel, differ, firstTokenOffMs }: Counted = await countedRun({ ...way, bpftrace: bpftrace.path });
      const { emitted, received, lost } = summary.events;
      const ops = way.command === "operators" ? log.decodes * perGraph * way.threads : 0;
      const [dumped, printed] = [kernel.dumped.join("+"), kernel.printed.join("+")];
      const good = trace.errors.length === 0 && trace.decodes === log.decodes && trace.ops === ops && emitted === received && lost === 0 &&
        dumped === printed && differ.length === 0 && stoppedNs(trace) <= 1e9 && Math.abs(firstTokenOffMs) <= 10;
      print(
        good,
        `${bpftrace.name} ${way.command} by ${way.by} ${run}/${runs}`,
        `decodes ${trace.decodes}=${log.decodes}`,
        `ops ${trace.ops}=${ops}`,
        `emitted ${emitted} received ${received} lost ${lost}`,
        `kernel ${dumped}=${printed}`,
        `stopped ${(stoppedNs(trace) / 1e6).toFixed(0)} ms (${trace.stops.map((stop) => (stop / 1e6).toFixed(0)).join("+")})`,
        `first token ${firstTokenOffMs.toFixed(1)} ms`,
        `stats ${trace.errors.length}`,
        `replay differs in ${differ.length}`,
      );
    }
  }
}

async function planted(bpftrace: Bpftrace): Promise<void> {
  for (const by of ["start", "wait"] as const) {
    for (let run = 1; run <= runs; run++) {
      const { phases, decodes, stoppedMs } = await plantedRun(bpftrace.path, by, run);
      const good = phases.every(isExact) && decodes === plantedCalls;
      const cells = phases.map(({ phase, logged, found }) => `${phase} ${found.toFixed(1)}/${logged.toFixed(1)}`);
      print(good, `${bpftrace.name} planted by ${by} ${run}/${runs}`, ...cells, `calls ${decodes}`, `stopped ${stoppedMs.toFixed(0)} ms`);
    }
  }
}

for (const bpftrace of chosen) await counted(bpftrace);
console.log("  planted phases: milliseconds by llmprof / by their own log");
for (const bpftrace of chosen) await planted(bpftrace);
console.log("  medians in milliseconds by llmprof / by the operator's own function, in the quietest stretch and over all calls");
for (const { family, calls, ours, theirs, all } of await operatorMedians(chosen.at(-1)!.path)) {
  const off = (ours / theirs - 1) * 100;
  const cells = [`${ours.toFixed(3)}/${theirs.toFixed(3)} (${off.toFixed(1)} %)`, `${all.ours.toFixed(3)}/${all.theirs.toFixed(3)}`];
  print(Math.abs(off) <= 5 && calls.ours === calls.theirs, family, ...cells, `${calls.ours} calls`);
}
const [short, long] = [await replayMemory(100_000), await replayMemory(1_000_000)];
const more = (long.peakBytes - short.peakBytes) / 1e6;
print(more <= 60, `replay of 1 M operators: ${more.toFixed(0)} MB more than of 100 k (${(short.peakBytes / 1e6).toFixed(0)} MB)`);
