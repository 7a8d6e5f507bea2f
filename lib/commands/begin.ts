import { placesThousands } from "../machine/bpftrace.ts";
import { allowSuspension } from "../machine/suspension.ts";
import { type Detail, withEveryOperator } from "../programs/detail.ts";
import type { Engine } from "../programs/engine.ts";
import { engineOf } from "../session/engine.ts";
import { Spares } from "../session/spares.ts";
import type { Target } from "../session/target.ts";
import { checkTurns, findTargetNow, isRunning, type TargetOptions } from "./find_target.ts";
import { heedSignals } from "./heed_signals.ts";
import { beginReading, type Reading } from "./means.ts";
import type { Profile } from "./profile.ts";
import type { Context } from "./terminal.ts";

export interface BeginOptions extends TargetOptions {
  readonly bpftrace?: string;
  readonly tree: boolean;
  readonly bufferPages: number;
  readonly detail: Detail;
  readonly maxOverhead?: number;
  readonly calibrate?: true;
  /** PyTorch: what runs is found out first, whatever bpftrace can do. */
  readonly learn?: number;
  readonly dryRun?: true;
  readonly quiet?: boolean;
}

/** What a run begins with. When it is disposed of, nothing of it is left on the machine but what ends with llmprof. */
export interface Begun extends Reading, Disposable {
  /** Whether llmprof runs under `nohup`. */
  readonly underNohup: Promise<boolean>;
  /** The process that was asked for, or the next one to start; null for a program that llmprof starts, and when the user ended the waiting. */
  readonly target: Promise<Target | null>;
  /** What it computes with, as far as this bpftrace makes a difference. */
  readonly engine: Promise<Engine>;
  /** Where a bpftrace is needed at once: it is loading by then. */
  readonly spares: Promise<Spares | undefined>;
}

/**
 * Begins a run: while what it needs is loaded, which takes as long, children find out what this machine is and who is meant. Throws what is wrong
 * with turns; what is wrong with the naming of the target is thrown to who waits for that. Who finds another mistake need not wait for what was begun.
 */
export function begin(
  profile: Pick<Profile<unknown>, "name" | "waits">,
  options: BeginOptions,
  context: Context,
  read: (bpftrace: string | undefined) => Reading = beginReading,
): Begun {
  checkTurns(profile, options);
  const reading = read(options.bpftrace);
  if (context.terminal.typed) allowSuspension(reading.hands.spawn);
  const underNohup = heedSignals(reading.hands.files, context);
  const waiting = async () => {
    // What is said of Ctrl-C has to be true by then.
    await underNohup;
    if (!options.quiet) context.terminal.err("Waiting for a process that matches. Ctrl-C ends.\n");
  };
  const target = options.program.length > 0 ? Promise.resolve(null) : findTargetNow(profile, reading.hands, options, context, waiting);
  // Of who is waited for nothing is known yet, and what else is wrong is told meanwhile.
  const engine = (options.wait ? Promise.resolve(null) : target).then(async (found): Promise<Engine> => {
    const bpftrace = await reading.bpftrace;
    const atOnce = options.learn === undefined && bpftrace !== null && placesThousands(bpftrace);
    if (found?.type !== "running") return atOnce && withEveryOperator.includes(options.detail) ? "any" : "ggml";
    const engine = await engineOf(reading.hands.files, found.pids, options.tree);
    return engine === "torch" && !atOnce ? "learned torch" : engine;
  });
  let isOver = false;
  const dispose = () => {
    isOver = true;
    reading.hands.symbols.remove();
  };
  const start = async () => {
    // A signal that ended llmprof before it heeds any would leave the folder of what is started.
    const [bpftrace, units] = await Promise.all([reading.bpftrace, reading.units, underNohup]);
    // Only root is answered what it can do, which is who may trace.
    if (isOver || !bpftrace?.features.symbols) return undefined;
    const spares = new Spares(reading.hands, bpftrace, options.bufferPages, units);
    spares.expect([{ unsafe: false, prompt: false }]);
    return spares;
  };
  const spares = startsAtOnce(options) ? start() : Promise.resolve(undefined);
  context.atKill(dispose);
  // They throw to who waits for them, if anybody does.
  for (const begun of [underNohup, target, engine, spares]) begun.catch(() => {});
  return { ...reading, underNohup, target, engine, spares, [Symbol.dispose]: dispose };
}

/** Nothing is waited for, looked at or measured first: the run's programs are what it begins with. */
function startsAtOnce(options: BeginOptions): boolean {
  return isRunning(options) && !options.wait && !options.dryRun && options.maxOverhead === undefined && !options.calibrate;
}
