/**
 * What tracing costs the traced engine: CPU time per token inside one running engine, in windows with and without llmprof.
 *
 *     deno run -A tests/bench/overhead.ts [--command operators|coldstart] [--engines 3] [--model small] [--bpftrace PATH]
 *
 * Each traced window is compared with the mean of the quiet windows before and after it, because attention grows dearer with every token.
 * One thread, so that nothing waits for anything. Prints each ratio, their median and the middle half.
 */
import { parseArgs } from "node:util";
import { bpftraces } from "../harness/bpftraces.ts";
import { start } from "../harness/command.ts";
import { temporary } from "../harness/temporary.ts";
import { startEngine } from "../workloads/engine_run.ts";
import { parseEngineLog } from "../workloads/engine_log.ts";
import { model } from "../workloads/model.ts";
import type { ShapeName } from "../workloads/shapes.ts";
import { llmprof } from "../harness/llmprof.ts";

const { values: options } = parseArgs({
  options: {
    command: { type: "string", default: "operators" },
    engines: { type: "string", default: "3" },
    model: { type: "string", default: "small" },
    bpftrace: { type: "string" },
  },
});
/** A token of the small model takes 7 ms: two hundred of them in a window. */
const WINDOW_MS = 1500;
/** As many as the model's context holds. */
const TOKENS = 3900;

interface Window {
  readonly traced: boolean;
  readonly from: bigint;
  readonly to: bigint;
  readonly cpuNs: number;
}

/** CLOCK_MONOTONIC when `performance.now()` was 0. */
const origin = await (async () => {
  const child = await new Deno.Command("node", { args: ["-p", "process.hrtime.bigint() + ''"] }).output();
  return BigInt(new TextDecoder().decode(child.stdout).trim()) - BigInt(Math.round(performance.now() * 1e6));
})();

const paths = options.bpftrace ? [{ name: options.bpftrace, path: options.bpftrace }] : bpftraces();
for (const bpftrace of paths) {
  const ratios: number[] = [];
  const quiet: number[] = [];
  for (let i = 0; i < Number(options.engines); i++) await measure(bpftrace.path, ratios, quiet);
  const q = (part: number) => ratios.toSorted((a, b) => a - b)[Math.floor((ratios.length - 1) * part)]!.toFixed(3);
  const base = quiet.toSorted((a, b) => a - b)[quiet.length >> 1]! / 1e6;
  console.log(
    `bpftrace ${bpftrace.name}, ${options.command}, ${options.model}: × ${q(0.5)} (middle half ${q(0.25)}–${q(0.75)}, ${ratios.length} windows), ${
      base.toFixed(2)
    } ms CPU per token without`,
  );
}

async function measure(bpftrace: string, ratios: number[], quiet: number[]): Promise<void> {
  using folder = temporary();
  const waitFile = `${folder.path}/go`;
  const log = `${folder.path}/log.json`;
  await using engine = startEngine({ model: await model(options.model as ShapeName), prompt: 16, tokens: TOKENS, threads: 1, waitFile, log });
  await engine.saw('"waiting"');
  const pid = Number(/"waiting":(\d+)/.exec(engine.stdout())![1]);
  await Deno.writeTextFile(waitFile, "");
  let running = true;
  void engine.finished().then(() => running = false);
  await pause(1000);
  const windows: Window[] = [await observe(pid, false)];
  while (running) {
    const pair = await tracedAndQuiet(pid, bpftrace).catch((error) => {
      // The engine has spoken its last token in the middle of a window.
      if (running) throw error;
      return [];
    });
    windows.push(...pair);
    if (pair.length === 0) break;
  }
  await engine.finished();
  const times = parseEngineLog(await Deno.readTextFile(log)).tokenTimes;
  const cost = ({ from, to, cpuNs }: Window) => cpuNs / times.filter((t) => t >= from && t < to).length;
  windows.forEach((window, i) => {
    if (!window.traced) return void quiet.push(cost(window));
    ratios.push(cost(window) / ((cost(windows[i - 1]!) + cost(windows[i + 1]!)) / 2));
  });
}

async function tracedAndQuiet(pid: number, bpftrace: string): Promise<Window[]> {
  const duration = `${WINDOW_MS + 400}ms`;
  await using tracer = start([...llmprof, options.command, "--pid", String(pid), "--bpftrace", bpftrace, "--duration", duration, "--no-output"]);
  await tracer.saw("Tracing");
  const traced = await observe(pid, true);
  await tracer.finished();
  return [traced, await observe(pid, false)];
}

/** CPU time of all threads in one window. */
async function observe(pid: number, traced: boolean): Promise<Window> {
  const [from, before] = [now(), cpu(pid)];
  await pause(WINDOW_MS);
  const [to, after] = [now(), cpu(pid)];
  return { traced, from, to, cpuNs: after - before };
}

function cpu(pid: number): number {
  let sum = 0;
  for (const { name } of Deno.readDirSync(`/proc/${pid}/task`)) {
    sum += Number(Deno.readTextFileSync(`/proc/${pid}/task/${name}/schedstat`).split(" ")[0]);
  }
  return sum;
}

/** CLOCK_MONOTONIC, which is the engine log's clock on a machine that has not slept. */
function now(): bigint {
  return BigInt(Math.round(performance.now() * 1e6)) + origin;
}
function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
