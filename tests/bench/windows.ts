import { temporary } from "../harness/temporary.ts";
import { bootNow } from "../kernel/boot_clock.ts";
import { parseEngineLog } from "../workloads/engine_log.ts";
import { startEngine } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import type { ShapeName } from "../workloads/shapes.ts";
import { mustRun, type Running } from "../harness/command.ts";

/** Something that is attached to the engine for the length of a window. */
export interface Mode {
  readonly name: string;
  /** How many windows of it are wanted. */
  readonly pairs: number;
  /** From attached to the window. What is looked at is the cost of being traced, not of beginning to be. */
  readonly settleMs: number;
  /** Resolves when it is attached; what it gives resolves when nothing of it is left. */
  attach(pid: number): Promise<() => Promise<void>>;
}

/** CPU time of a token in a window, by the mean of the two windows without anything beside it. */
export interface Pair {
  readonly mode: string;
  readonly ratio: number;
  /** CPU milliseconds of a token without. */
  readonly base: number;
}

export interface WindowOptions {
  readonly model: ShapeName;
  readonly threads: number;
  readonly windowMs: number;
}

interface Window {
  readonly mode: string | null;
  readonly from: bigint;
  readonly to: bigint;
}

/** After this an engine is replaced by a fresh one, whose memory lies elsewhere: what one engine's placement does must not decide. */
const PAIRS_OF_AN_ENGINE = 40;
/**
 * Tokens of a round. A later one has more to attend to: with 200, where in its round a window lies is twice as much noise as everything else.
 */
const TOKENS = 50;

/** The windows of all modes in random order, each between two in which nothing is attached; what `seen` is told of each pair as an engine ends. */
export async function comparedWindows(modes: readonly Mode[], options: WindowOptions, seen: (pairs: readonly Pair[]) => void): Promise<void> {
  const order = shuffled(modes.flatMap((mode) => Array<Mode>(mode.pairs).fill(mode)));
  for (let i = 0; i < order.length; i += PAIRS_OF_AN_ENGINE) seen(await oneEngine(order.slice(i, i + PAIRS_OF_AN_ENGINE), options));
}

async function oneEngine(order: readonly Mode[], { model: shape, threads, windowMs }: WindowOptions): Promise<Pair[]> {
  using folder = temporary();
  const [waitFile, stopFile, log] = [folder.file("go"), folder.file("stop"), folder.file("log")];
  const options = { model: model(shape), prompt: 1, tokens: TOKENS, threads, waitFile, stopFile, log };
  await using engine = startEngine(options, { timeoutMilliseconds: 3_600_000 });
  await engine.saw('"waiting"');
  // It decodes in whichever thread of its pool is free: on a processor of its own, what the scheduler does with those is no part of the ratios.
  await mustRun(["taskset", "--all-tasks", "--cpu-list", "--pid", `0-${threads - 1}`, String(engine.pid)]);
  Deno.writeTextFileSync(waitFile, "");
  await pause(1500);
  const windows = [await window(null, windowMs)];
  for (const mode of order) {
    const detach = await mode.attach(engine.pid);
    await pause(mode.settleMs);
    windows.push(await window(mode.name, windowMs));
    await detach();
    windows.push(await window(null, windowMs));
  }
  Deno.writeTextFileSync(stopFile, "");
  await engineEnd(engine);
  const { tokenTimes, tokenCpu } = parseEngineLog(Deno.readTextFileSync(log));
  const costs = windows.map((each) => cost(each, tokenTimes, tokenCpu));
  return windows.flatMap(({ mode }, i) => {
    if (mode === null) return [];
    const base = (costs[i - 1]! + costs[i + 1]!) / 2;
    return [{ mode, ratio: costs[i]! / base, base: base / 1000 }];
  });
}

async function engineEnd(engine: Running): Promise<void> {
  const { code, stderr } = await engine.finished();
  if (code !== 0) throw new Error(`The engine ended with ${code}:\n${stderr}`);
}

async function window(mode: string | null, milliseconds: number): Promise<Window> {
  const from = bootNow();
  await pause(milliseconds);
  return { mode, from, to: bootNow() };
}

/** CPU microseconds of a token, over the tokens that began and ended in the window. */
function cost({ from, to }: Window, times: readonly bigint[], cpu: readonly number[]): number {
  const first = times.findIndex((time) => time >= from);
  const last = times.findLastIndex((time) => time <= to);
  if (last - first < 10) throw new Error(`Only ${last - first} tokens in a window: it has to be longer.`);
  return (cpu[last]! - cpu[first]!) / (last - first);
}

export function shuffled<T>(items: readonly T[]): T[] {
  return items.map((item) => ({ item, at: Math.random() })).sort((a, b) => a.at - b.at).map(({ item }) => item);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
