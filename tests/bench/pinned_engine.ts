import { setTimeout as pause } from "node:timers/promises";
import { mustRun, type Running } from "../harness/command.ts";
import { type Temporary, temporary } from "../harness/temporary.ts";
import { type EngineLog, parseEngineLog } from "../workloads/engine_log.ts";
import { type EngineOptions, startEngine } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import type { ShapeName } from "../workloads/shapes.ts";

/**
 * Tokens of a round. A later one has more to attend to: with 200, where in its round a window lies is twice as much noise as everything else.
 */
const TOKENS = 50;
/** Until an engine runs as it will. */
export const SETTLED_MS = 1500;

/** A stretch of the engine's time, in nanoseconds of CLOCK_BOOTTIME. */
export interface Stretch {
  readonly from: bigint;
  readonly to: bigint;
}

/**
 * An engine that generates until it is told to end, on processors of its own: it decodes in whichever thread of its pool is free, and what the
 * scheduler does with those is no part of what is measured.
 */
export class PinnedEngine implements AsyncDisposable {
  private constructor(readonly folder: Temporary, readonly engine: Running, readonly resources: AsyncDisposableStack) {}

  static async start(
    shape: ShapeName,
    threads: number,
    more: Pick<EngineOptions, "prompt" | "engine" | "myTurn" | "otherTurn"> = {},
  ): Promise<PinnedEngine> {
    // Nothing is left of it when it does not come so far.
    await using resources = new AsyncDisposableStack();
    const folder = resources.use(temporary());
    const [waitFile, stopFile, log] = [folder.file("go"), folder.file("stop"), folder.file("log")];
    const options = { model: model(shape), prompt: 1, tokens: TOKENS, threads, waitFile, stopFile, log, ...more };
    const engine = resources.use(startEngine(options, { timeoutMilliseconds: 3_600_000 }));
    await engine.saw('"waiting"');
    await mustRun(["taskset", "--all-tasks", "--cpu-list", "--pid", `0-${threads - 1}`, String(engine.pid)]);
    Deno.writeTextFileSync(waitFile, "");
    await pause(SETTLED_MS);
    return new PinnedEngine(folder, engine, resources.move());
  }

  get pid(): number {
    return this.engine.pid;
  }

  /** Asks it to end, for those that wait for one another. */
  askToEnd(): void {
    Deno.writeTextFileSync(this.folder.file("stop"), "");
  }

  /** Ends it and returns what it wrote down. */
  async end(): Promise<EngineLog> {
    this.askToEnd();
    await this.engine.succeeded();
    return parseEngineLog(Deno.readTextFileSync(this.folder.file("log")));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.resources.disposeAsync();
  }
}

/** A cost of fewer tokens would be chance. */
const LEAST_TOKENS = 10;

/** CPU microseconds of a token, over the tokens that began and ended in the stretch; NaN where these are too few. */
export function tokenCost({ from, to }: Stretch, { tokenTimes, tokenCpu }: EngineLog): number {
  const first = tokenTimes.findIndex((time) => time >= from);
  const last = tokenTimes.findLastIndex((time) => time <= to);
  return last - first < LEAST_TOKENS ? NaN : (tokenCpu[last]! - tokenCpu[first]!) / (last - first);
}

/** Says how many of these ratios of costs are none. Throws where all are. */
export function sayUntold(ratios: readonly number[]): void {
  const untold = ratios.filter(Number.isNaN).length;
  if (untold === ratios.length) throw new Error("Each window had too few tokens: it has to be longer.");
  if (untold > 0) console.error(`${untold} of ${ratios.length} windows had too few tokens, as if the machine had stood still: left out.`);
}
