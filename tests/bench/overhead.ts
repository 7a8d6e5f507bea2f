/**
 * What tracing every operator costs the traced engine: CPU time of a token inside one running engine, in windows with and without.
 *
 *     deno run -A tests/bench/overhead.ts [--model small] [--threads 1] [--pairs 30] [--control 10] [--bpftrace 0.23] [--window 1500]
 *
 * Four things are compared with nothing at all, in random order, each window with the two beside it: a bpftrace without a probe (the control),
 * the trap at every operator with a count, the same with a line for each that nobody reads, and llmprof writing its timeline. With one thread
 * nothing waits for anything; take two to see what that adds. Prints medians of the ratios and the interval in which the true median lies in 95 of
 * 100 cases.
 */
import { parseArgs } from "node:util";
import { type Bpftrace, bpftraces } from "../harness/bpftraces.ts";
import { type ShapeName, shapes } from "../workloads/shapes.ts";
import { control, counting, lines, timeline, type TimelineRuns } from "./modes.ts";
import { type Middle, middle } from "./statistics.ts";
import { comparedWindows, type Pair } from "./windows.ts";

export interface OverheadOptions {
  readonly model: ShapeName;
  readonly threads: number;
  /** Of counting and of the timeline, each. */
  readonly pairs: number;
  /** Of the control and of lines, each. */
  readonly control: number;
  readonly windowMs: number;
}

export interface Overhead {
  readonly ratios: Readonly<Record<"control" | "counting" | "lines" | "timeline", Middle>>;
  /** CPU milliseconds of a token with nothing attached. */
  readonly baseMs: number;
  readonly operatorsPerToken: number;
  /** CPU that an operator's record adds to the traced thread, the trap included. */
  readonly microsecondsPerOperator: number;
  readonly lost: number;
  readonly emitted: number;
}

export async function measureOverhead(bpftrace: Bpftrace, options: OverheadOptions): Promise<Overhead> {
  const pairs: Pair[] = [];
  const runs: TimelineRuns = { emitted: 0, lost: 0, operatorsPerToken: 0 };
  const { path } = bpftrace;
  const { pairs: each, control: few } = options;
  const modes = [control(path, few), counting(path, each), lines(path, few), timeline(path, each, runs)];
  await comparedWindows(modes, options, (more) => {
    pairs.push(...more);
    console.error(`${bpftrace.name}: ${pairs.length} windows of ${2 * (few + each)}`);
  });
  const of = (name: string) => middle(pairs.filter(({ mode }) => mode === name).map(({ ratio }) => ratio));
  const baseMs = middle(pairs.map(({ base }) => base)).median;
  const ratios = { control: of("control"), counting: of("counting"), lines: of("lines"), timeline: of("timeline") };
  const microsecondsPerOperator = (ratios.timeline.median - 1) * baseMs * 1000 / runs.operatorsPerToken;
  return { ratios, baseMs, microsecondsPerOperator, ...runs };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      model: { type: "string", default: "small" },
      threads: { type: "string", default: "1" },
      pairs: { type: "string", default: "30" },
      control: { type: "string", default: "10" },
      window: { type: "string", default: "1500" },
      bpftrace: { type: "string" },
    },
  });
  if (!Object.hasOwn(shapes, values.model)) throw new Error(`No model is called ${values.model}. There are: ${Object.keys(shapes).join(", ")}.`);
  const numbers = { threads: Number(values.threads), pairs: Number(values.pairs), control: Number(values.control), windowMs: Number(values.window) };
  const options: OverheadOptions = { model: values.model as ShapeName, ...numbers };
  const chosen = bpftraces().filter(({ name }) => values.bpftrace === undefined || name === values.bpftrace);
  if (chosen.length === 0) throw new Error(`There is no bpftrace ${values.bpftrace} here.`);
  for (const bpftrace of chosen) {
    const { ratios, baseMs, operatorsPerToken, microsecondsPerOperator, lost, emitted } = await measureOverhead(bpftrace, options);
    console.log(
      `bpftrace ${bpftrace.name}, model ${options.model}, threads ${options.threads}: ${baseMs.toFixed(2)} ms CPU a token, ${
        operatorsPerToken.toFixed(0)
      } operators`,
    );
    for (const [name, { median, low, high, count }] of Object.entries(ratios)) {
      console.log(`  ${name.padEnd(9)} × ${median.toFixed(4)}  (95 %: ${low.toFixed(4)} to ${high.toFixed(4)}, ${count} windows)`);
    }
    console.log(`  ${microsecondsPerOperator.toFixed(2)} µs for each operator; ${lost} of ${emitted} events lost`);
  }
}
