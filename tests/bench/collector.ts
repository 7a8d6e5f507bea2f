/**
 * What tracing costs the tracer: CPU time of bpftrace and of llmprof while a made-up engine starts operators at a fixed rate.
 *
 *     deno run -A tests/bench/collector.ts [--rate 25000] [--windows 12] [--rounds 1] [--format pftrace] [--detail op] [--bpftrace 0.23]
 *
 * Read from /proc/PID/stat of both (llmprof with the children that it has waited for) at the ends of windows in which nothing starts or ends. In the first
 * twenty seconds V8 still compiles what llmprof runs: their mean is told. What comes after is what a long run costs: of its windows the median is told and
 * where the true one is, for a neighbour that is loud for some seconds makes the same work take twice as much. At most 5 % of one core together is wanted
 * where bpftrace has a ring buffer: ends with 1 where it is more, in the end.
 */
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { OperatorsResult } from "../../lib/analysis/operators_schema.ts";
import type { Summary } from "../../lib/analysis/summary.ts";
import { readMeans } from "../../lib/commands/means.ts";
import { percent } from "../../lib/events/text.ts";
import { chosenBpftraces } from "../harness/bpftraces.ts";
import { start } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";
import { bpftracesOf } from "../kernel/processes.ts";
import { built } from "../setup/programs.ts";
import { judged } from "./judged.ts";
import { middle } from "./statistics.ts";

const { values: options } = parseArgs({
  options: {
    rate: { type: "string", default: "25000" },
    windows: { type: "string", default: "12" },
    rounds: { type: "string", default: "1" },
    format: { type: "string", default: "pftrace" },
    detail: { type: "string", default: "op" },
    bpftrace: { type: "string" },
  },
});
const windows = Number(options.windows);

/** Of a core, for both. */
const MOST = 0.05;
/** The first pauses of the reader are short ones. */
const SETTLED_SECONDS = 3;
const COMPILING_SECONDS = 20;
/** Long beside the reader's pauses, of a second at most, and beside the kernel's steps of 10 ms. */
const WINDOW_SECONDS = 5;

const chosen = chosenBpftraces(options.bpftrace);
for (let round = 0; round < Number(options.rounds); round++) {
  for (const { name, path } of chosen) await measure(name, path);
}

async function measure(name: string, bpftrace: string): Promise<void> {
  const isRing = (await readMeans(bpftrace)).machine.bpftrace!.features.ringbuf;
  using folder = temporary();
  const stretches = [COMPILING_SECONDS, ...Array<number>(windows).fill(WINDOW_SECONDS)];
  const enough = SETTLED_SECONDS + sum(stretches) + 30;
  const limit = { timeoutMilliseconds: (enough + 30) * 1000 };
  await using engine = start([built.paced, options.rate, String(enough)], limit);
  await engine.saw("running");
  const flags = ["--bpftrace", bpftrace, "--detail", options.detail, "--summary", "json", "-o", folder.file(`run.${options.format}`)];
  await using tracer = start([...llmprof, "operators", "--pid", String(engine.pid), ...flags], limit);
  await tracer.saw("Tracing");
  await pause(SETTLED_SECONDS * 1000);
  const readers = bpftracesOf(tracer.pid);
  const read = () => [performance.now() / 1000, sum(readers.map((pid) => cpuOf(pid, false))), cpuOf(tracer.pid, true)] as const;
  const reads = [read()];
  for (const seconds of stretches) {
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
  console.log(`bpftrace ${name}: ${rate.toFixed(0)} operators a second, ${events.lost} lost`);
  // Of each stretch, the shares of a core that bpftrace, llmprof and both used.
  const [first, ...others] = reads.slice(1).map(([at, reader, own], i) => {
    const [from, readerBefore, ownBefore] = reads[i]!;
    return [reader - readerBefore, own - ownBefore, reader - readerBefore + own - ownBefore].map((used) => used / (at - from));
  });
  for (const [i, who] of ["bpftrace", "llmprof", "together"].entries()) {
    const { median, low, high, count } = middle(others.map((shares) => shares[i]!));
    const told = `median ${percent(median)} (${percent(low)} to ${percent(high)}), ${(1e6 * median / rate).toFixed(2)} µs an operator`;
    const figure = `${who.padEnd(8)}  while V8 compiles ${percent(first![i]!)}; ${count} windows of ${WINDOW_SECONDS} s after that: ${told}`;
    console.log(`  ${who === "together" && isRing ? judged(`${figure} (${percent(MOST)} at most)`, median <= MOST) : figure}`);
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
