/**
 * What tracing costs the traced engine: CPU time of a token inside one running engine, in windows with and without.
 *
 *     deno run -A tests/bench/overhead.ts [--model small] [--threads 1] [--pairs 30] [--control 10] [--bpftrace 0.23] [--window 3000]
 *         [--modes control,counting,least,timeline,sum,graph,sample,token,turns,held]
 *
 * The engine takes turns with another that nobody traces, token by token (engines_in_turn.ts): a window holds half as many of its tokens. These are
 * compared with nothing at all, in random order, each window with the two beside it: a bpftrace without a probe (the control), the trap at
 * every operator with a count, plain bpftrace with the shortest line for whatever llmprof sees, which nobody reads (the least), llmprof writing its
 * timeline, llmprof with less detail, a quarter of the time (turns), and with --max-overhead 2% (held). With one thread nothing waits for anything; take
 * two to see what that adds. Prints medians of the ratios and the interval in which the true median lies in 95 of 100 cases, and below each the same of the
 * token's own time (`alone`), in which is what tracing does to caches and memory that both engines share, with all that neighbours do.
 *
 * Wanted of one thread where bpftrace has a ring buffer (overhead_limits.ts): the timeline and the sums cost at most half a point more than counting, and
 * make a token of the model of 620 MB (`billion`) at most 1.015 times as dear, of that of 113 MB 1.04 times; of the larger one tokens and graphs make it
 * 1.003 times as dear, samples 1.005 times, or as much as the control may; turns cost at most a quarter of the timeline, or what the control may, and what
 * is held 2 %. Ends with 1 where it is more.
 */
import { parseArgs } from "node:util";
import { readMeans } from "../../lib/commands/means.ts";
import { type Bpftrace, chosenBpftraces } from "../harness/bpftraces.ts";
import { type ShapeName, shapes } from "../workloads/shapes.ts";
import { control, counting, leastLines, limited, timeline, type TimelineRuns } from "./modes.ts";
import { HELD, limits, SHARE } from "./overhead_limits.ts";
import { type Middle, middle } from "./statistics.ts";
import { comparedWindows, type Mode, type Pair } from "./windows.ts";

const made = {
  control: (path, { control: few }) => control(path, few),
  counting: (path, { pairs }) => counting(path, pairs),
  least: (path, { control: few }) => leastLines(path, few),
  timeline: (path, { pairs }, runs) => timeline(path, pairs, runs),
  sum: (path, { pairs }, runs) => limited("sum", ["--detail", "sum"], path, pairs, runs),
  graph: (path, { pairs }, runs) => limited("graph", ["--detail", "graph"], path, pairs, runs),
  sample: (path, { pairs }, runs) => limited("sample", ["--detail", "sample"], path, pairs, runs),
  token: (path, { pairs }, runs) => limited("token", ["--detail", "token"], path, pairs, runs),
  // A window is as long as a turn and the pause behind it, wherever in it the window begins.
  turns: (path, { pairs, windowMs }, runs) => limited("turns", ["--every", `${windowMs}ms`, "--for", `${windowMs * SHARE}ms`], path, pairs, runs),
  held: (path, { pairs }, runs) => limited("held", ["--max-overhead", `${HELD * 100}%`], path, pairs, runs),
} satisfies Record<string, (path: string, options: OverheadOptions, runs: TimelineRuns) => Mode>;

export type ModeName = keyof typeof made;

export interface OverheadOptions {
  readonly model: ShapeName;
  readonly threads: number;
  /** Of each mode but these two: */
  readonly pairs: number;
  /** Of the control and of the least, each. */
  readonly control: number;
  readonly windowMs: number;
}

export interface Overhead {
  readonly ratios: ReadonlyMap<ModeName, Middle>;
  /** The same without the untraced engine, see {@link Pair.alone}. */
  readonly alone: ReadonlyMap<ModeName, Middle>;
  /** CPU milliseconds of a token with nothing attached. */
  readonly baseMs: number;
  readonly operatorsPerToken: number;
  /** CPU that an operator's record adds to the traced thread, the trap included. */
  readonly microsecondsPerOperator: number;
  readonly lost: number;
  readonly emitted: number;
}

export async function measureOverhead(bpftrace: Bpftrace, names: readonly ModeName[], options: OverheadOptions): Promise<Overhead> {
  const pairs: Pair[] = [];
  const runs: TimelineRuns = { emitted: 0, lost: 0, operatorsPerToken: 0 };
  const modes = names.map((name) => made[name](bpftrace.path, options, runs));
  const all = modes.reduce((sum, mode) => sum + mode.pairs, 0);
  await comparedWindows(modes, options, (more) => {
    pairs.push(...more);
    console.error(`${bpftrace.name}: ${pairs.length} windows of ${all}`);
    // Who ends it early has these.
    for (const [name, ratio] of ratiosOf(names, pairs)) console.error(line(name, ratio));
  });
  const ratios = ratiosOf(names, pairs);
  const baseMs = middle(pairs.map(({ base }) => base)).median;
  const microsecondsPerOperator = ((ratios.get("timeline")?.median ?? NaN) - 1) * baseMs * 1000 / runs.operatorsPerToken;
  return { ratios, alone: ratiosOf(names, pairs, "alone"), baseMs, microsecondsPerOperator, ...runs };
}

/** By mode: those of which there are windows. */
function ratiosOf(names: readonly ModeName[], pairs: readonly Pair[], which: "ratio" | "alone" = "ratio"): Map<ModeName, Middle> {
  const of = (name: ModeName) => pairs.filter(({ mode }) => mode === name).map((pair) => pair[which]);
  return new Map(names.filter((name) => of(name).length > 0).map((name) => [name, middle(of(name))]));
}

function line(name: string, { median, low, high, count }: Middle): string {
  return `  ${name.padEnd(9)} × ${median.toFixed(4)}  (95 %: ${low.toFixed(4)} to ${high.toFixed(4)}, ${count} windows)`;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      model: { type: "string", default: "small" },
      threads: { type: "string", default: "1" },
      pairs: { type: "string", default: "30" },
      control: { type: "string", default: "10" },
      window: { type: "string", default: "3000" },
      bpftrace: { type: "string" },
      modes: { type: "string", default: "control,counting,least,timeline" },
    },
  });
  const names = values.modes.split(",");
  const unknown = names.find((name) => !Object.hasOwn(made, name));
  if (unknown !== undefined) throw new Error(`No mode is called ${unknown}. There are: ${Object.keys(made).join(", ")}.`);
  if (!Object.hasOwn(shapes, values.model)) throw new Error(`No model is called ${values.model}. There are: ${Object.keys(shapes).join(", ")}.`);
  const numbers = { threads: Number(values.threads), pairs: Number(values.pairs), control: Number(values.control), windowMs: Number(values.window) };
  const options: OverheadOptions = { model: values.model as ShapeName, ...numbers };
  for (const bpftrace of chosenBpftraces(values.bpftrace)) {
    const { ratios, alone, baseMs, operatorsPerToken, microsecondsPerOperator, lost, emitted } = await measureOverhead(
      bpftrace,
      names as ModeName[],
      options,
    );
    console.log(
      `bpftrace ${bpftrace.name}, model ${options.model}, threads ${options.threads}: ${baseMs.toFixed(2)} ms CPU a token${
        operatorsPerToken > 0 ? `, ${operatorsPerToken.toFixed(0)} operators` : ""
      }`,
    );
    for (const [name, ratio] of ratios) console.log(`${line(name, ratio)}\n${line("  alone", alone.get(name)!)}`);
    const isRing = (await readMeans(bpftrace.path)).machine.bpftrace!.features.ringbuf;
    if (isRing && options.threads === 1) { for (const limit of limits(ratios, options.model)) console.log(`  ${limit}`); }
    const perOperator = names.includes("timeline") ? `${microsecondsPerOperator.toFixed(2)} µs for each operator; ` : "";
    console.log(`  ${perOperator}${lost} of ${emitted} events lost`);
  }
}
