/**
 * What tracing costs the tracer: CPU time of bpftrace and of llmprof while a made-up engine starts operators at a fixed rate.
 *
 *     deno run -A tests/bench/collector.ts [--rate 25000] [--seconds 20] [--rounds 1] [--format pftrace] [--detail op]
 *
 * Read from /proc/PID/stat of both (llmprof with the children that it has waited for) at the two ends of two stretches in which nothing starts or
 * ends. In the first one V8 still compiles what llmprof runs, a tenth of a second and more; the second is what a long run costs. At most 5 % of one core
 * together is wanted where bpftrace has a ring buffer.
 */
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { OperatorsResult } from "../../lib/analysis/operators_schema.ts";
import type { Summary } from "../../lib/analysis/summary.ts";
import { bpftraces } from "../harness/bpftraces.ts";
import { start } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";
import { bpftracesOf } from "../kernel/processes.ts";
import { built } from "../setup/programs.ts";

const { values: options } = parseArgs({
  options: {
    rate: { type: "string", default: "25000" },
    seconds: { type: "string", default: "20" },
    rounds: { type: "string", default: "1" },
    format: { type: "string", default: "pftrace" },
    detail: { type: "string", default: "op" },
  },
});
const seconds = Number(options.seconds);

/** The first pauses of the reader are short ones. */
const SETTLED_SECONDS = 3;

console.log("bpftrace  from s operators/s     lost   CPU of bpftrace    CPU of llmprof   together");
for (let round = 0; round < Number(options.rounds); round++) {
  for (const { name, path } of bpftraces()) await measure(name, path);
}

async function measure(name: string, bpftrace: string): Promise<void> {
  using folder = temporary();
  await using engine = start([built.paced, options.rate, String(2 * seconds + 30)]);
  await engine.saw("running");
  const flags = ["--bpftrace", bpftrace, "--detail", options.detail, "--summary", "json", "-o", folder.file(`run.${options.format}`)];
  await using tracer = start([...llmprof, "operators", "--pid", String(engine.pid), ...flags]);
  await tracer.saw("Tracing");
  await pause(SETTLED_SECONDS * 1000);
  const readers = bpftracesOf(tracer.pid);
  const read = () => ({ at: performance.now() / 1000, own: cpuOf(tracer.pid, true), bpftrace: sum(readers.map((pid) => cpuOf(pid, false))) });
  const reads = [read()];
  for (let stretch = 0; stretch < 2; stretch++) {
    await pause(seconds * 1000);
    reads.push(read());
  }
  tracer.kill("SIGINT");
  const { stdout } = await tracer.succeeded();
  const { events, startNs, endNs, result }: Summary<OperatorsResult> = JSON.parse(stdout);
  const operators = result.operators.reduce((sum, { calls }) => sum + calls, 0);
  // The window may open and close inside a graph; more than that is no work of an engine.
  if (result.graphs.withoutOperators > 1) {
    throw new Error(`${result.graphs.withoutOperators} of ${result.graphs.count} graphs came without operators`);
  }
  const rate = operators / ((endNs! - startNs!) / 1e9);
  for (const [stretch, before] of reads.slice(0, -1).entries()) {
    const after = reads[stretch + 1]!;
    const share = (cpu: number) => {
      const used = cpu / (after.at - before.at);
      return `${(100 * used).toFixed(2)} % ${(1e6 * used / rate).toFixed(2)} µs`.padStart(17);
    };
    const [forBpftrace, forLlmprof] = [after.bpftrace - before.bpftrace, after.own - before.own];
    const shares = [forBpftrace, forLlmprof, forBpftrace + forLlmprof].map(share).join(" ");
    const from = String(SETTLED_SECONDS + stretch * seconds);
    console.log(`${name.padEnd(8)} ${from.padStart(7)} ${rate.toFixed(0).padStart(11)} ${String(events.lost).padStart(8)} ${shares}`);
  }
}

/** Seconds of CPU time, in steps of 10 ms; `waited`: with children that have ended. */
function cpuOf(pid: number, waited: boolean): number {
  const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
  const [user, system, childUser, childSystem] = stat.slice(stat.lastIndexOf(")") + 2).split(" ").slice(11, 15).map(Number) as [
    number,
    number,
    number,
    number,
  ];
  return (user + system + (waited ? childUser + childSystem : 0)) / 100;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
