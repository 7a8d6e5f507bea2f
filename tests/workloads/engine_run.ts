import { join } from "node:path";
import { type Running, type RunOptions, start } from "../harness/command.ts";
import { findProgram } from "../harness/find_program.ts";
import { top } from "../harness/places.ts";
import type { Temporary } from "../harness/temporary.ts";
import { type EngineLog, parseEngineLog } from "./engine_log.ts";
import { model } from "./model.ts";
import type { ShapeName } from "./shapes.ts";

/** The options of engine.mjs, which explains them. */
export interface EngineOptions {
  readonly model: string;
  readonly prompt?: number;
  readonly promptBatch?: number;
  readonly tokens?: number;
  readonly threads?: number;
  readonly seed?: number;
  readonly gpuLayers?: number;
  readonly gpu?: "cuda";
  readonly draft?: string;
  readonly waitFile?: string;
  readonly stopFile?: string;
  readonly chores?: string;
  readonly log?: string;
  readonly engine?: string;
  readonly myTurn?: string;
  readonly otherTurn?: string;
}

/** The command line of the engine script, to be run by a test or given to llmprof after `--`. */
export function engineCommand({ model, ...options }: EngineOptions): string[] {
  const flags = Object.entries(options).flatMap(([name, value]) => {
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return value === undefined ? [] : [flag, String(value)];
  });
  return ["node", join(top, "tests", "workloads", "engine.mjs"), model, ...flags];
}

/** The same, as a program (in this folder) of a name by which it is known from engines of other tests. */
export function ownEngineCommand(folder: Temporary, options: EngineOptions): readonly [program: string, ...words: string[]] {
  const program = folder.file(`node-${crypto.randomUUID().slice(0, 8)}`), [node, ...words] = engineCommand(options);
  Deno.symlinkSync(findProgram(node!)!, program);
  return [program, ...words];
}

/** Starts the engine. With a `waitFile`, `saw('"waiting"')` tells that the model is loaded and nothing is decoded yet. */
export function startEngine(options: EngineOptions, how?: RunOptions): Running {
  return start(engineCommand(options), how);
}

/** Tokens of an engine that is busy, before it begins anew. */
export const ROUND_TOKENS = 50;

/** An engine in the middle of its work. */
export interface BusyEngine extends AsyncDisposable {
  readonly pid: number;
  /** Of its moments: complete when it has ended. */
  readonly log: string;
  /** Asks it to end, and waits. */
  end(): Promise<void>;
}

/** A model, the tiny one unless told otherwise, on one thread, token after token, until it is asked to end. */
export async function busyEngine(folder: Temporary, shape: ShapeName = "tiny"): Promise<BusyEngine> {
  const [waitFile, stopFile, log] = [folder.file("go"), folder.file("stop"), folder.file("log")];
  const engine = startEngine({ model: model(shape), prompt: 1, tokens: ROUND_TOKENS, threads: 1, waitFile, stopFile, log }, {
    timeoutMilliseconds: 300_000,
  });
  await engine.saw('"waiting"');
  Deno.writeTextFileSync(waitFile, "");
  const end = async () => {
    Deno.writeTextFileSync(stopFile, "");
    await engine.finished();
  };
  return { pid: engine.pid, log, end, [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose]() };
}

/** Runs the engine to its end and returns its log. */
export async function engineRun(options: EngineOptions): Promise<EngineLog> {
  await using engine = startEngine(options);
  const { stdout } = await engine.succeeded();
  return parseEngineLog(stdout);
}
