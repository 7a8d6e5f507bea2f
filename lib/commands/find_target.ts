import { type LlmprofError, usage } from "../events/errors.ts";
import { Ending } from "../machine/ending.ts";
import type { Detail } from "../programs/detail.ts";
import type { Hands } from "../session/means.ts";
import type { RunningTarget, Target } from "../session/target.ts";
import { findInference, findTarget, listCandidates, type Query } from "../target/discover.ts";
import { NoMatch } from "../target/no_match.ts";
import type { Profile } from "./profile.ts";
import type { Context } from "./terminal.ts";

export interface TargetOptions {
  readonly pid?: number;
  readonly comm?: string;
  readonly match?: RegExp;
  readonly container?: string;
  readonly all?: true;
  readonly wait: boolean;
  /** Milliseconds: for how long it is watched, and from one beginning to the next. */
  readonly for?: number;
  readonly every?: number;
  /** Operators are looked at only when a token takes so many times as long as those before. */
  readonly slowerThan?: number;
  readonly detail: Detail;
  /** Program and arguments after `--`. */
  readonly program: readonly string[];
}

const LOOK_MS = 500;

/** Which of the options names a target: a program is checked and started by who runs it. */
function queryOf({ pid, comm, match, container, all }: TargetOptions): Query | null {
  if (all) return { by: "all" };
  if (pid !== undefined) return { by: "pid", pid };
  if (comm !== undefined) return { by: "comm", comm };
  if (container !== undefined) return { by: "container", container };
  return match === undefined ? null : { by: "match", pattern: match };
}

/** A mistake in asking for turns, found without looking at the machine's processes. */
export function checkTurns({ name }: Pick<Profile<unknown>, "name">, options: TargetOptions): void {
  if (options.slowerThan !== undefined) return checkSlow(name, options);
  if (options.for === undefined && options.every === undefined) return;
  const next = `Try: llmprof ${name} --pid N --every 30s --for 2s`;
  if (options.for === undefined || options.every === undefined) {
    throw usage("--every and --for belong together.", "One says how often the target is watched, the other for how long.", next);
  }
  if (options.for >= options.every) {
    throw usage("--for has to be shorter than --every.", "There is no time in between to leave the target alone.", next);
  }
  if (options.wait) throw usage("--every cannot be used with --wait.", "One process is watched in turns, and when it ends, so does the run.", next);
  if (!queryOf(options)) throw usage("--every needs a process that runs.", "It is left alone between two turns, not started.", next);
}

function checkSlow(name: string, options: TargetOptions): void {
  const next = `Try: llmprof ${name} --pid N --slower-than 1.5x --for 2s`;
  for (const other of ["every", "wait"] as const) {
    if (options[other]) throw usage(`--slower-than cannot be used with --${other}.`, "A slow token decides when more is looked at.", next);
  }
  if (!queryOf(options)) throw usage("--slower-than needs a process that runs.", "More is attached to it when a token was slow.", next);
  if (options.detail === "token") {
    const without = `Try: llmprof ${name} --pid N --slower-than 1.5x`;
    throw usage("--slower-than cannot be used with --detail token.", "Then there is nothing more to look at when a token was slow.", without);
  }
}

/** Whether the target is a process that runs already, or with `--wait` one that will. */
export function isRunning(options: TargetOptions): boolean {
  return queryOf(options) !== null;
}

/** Whether a target has a name by which it is known again when it has been restarted: a number is nobody's twice. */
export function isNamed(options: TargetOptions): boolean {
  const query = queryOf(options);
  return query !== null && query.by !== "pid" && query.by !== "all";
}

/** The process that was asked for, or the next one to start. Null when the user ended the waiting. Where none was named, those that could be are listed. */
export async function findTargetNow(
  profile: Pick<Profile<unknown>, "name" | "waits">,
  hands: Hands,
  options: TargetOptions,
  context: Context,
  waiting: () => void | Promise<void>,
): Promise<Target | null> {
  if (queryOf(options)) return await findRunning(hands, options, context, waiting);
  if (profile.waits) return { type: "next" };
  throw await noneNamed(profile.name, hands);
}

async function noneNamed(name: string, { files, self }: Hands): Promise<LlmprofError> {
  const found = await findInference(files, self);
  const next = `Name one: llmprof ${name} --pid N, --comm NAME, --match REGEX, --container NAME, or: llmprof ${name} -- program args…`;
  return usage(
    `${name} needs a target.`,
    "None was named.",
    found.length === 0 ? next : `${next}\nThese have a model or an engine:\n${listCandidates(found)}`,
  );
}

/** A process that runs; with `--wait`, as soon as there is one. Null when the user ended the waiting. `several`: what several matches mean. */
export async function findRunning(
  hands: Hands,
  options: TargetOptions,
  context: Pick<Context, "interrupted">,
  waiting: () => void | Promise<void>,
  several: "mistake" | "newest" = "mistake",
): Promise<RunningTarget | null> {
  const query = queryOf(options)!;
  const end = new Ending(context.interrupted);
  for (let first = true; !end.isHere; first = false) {
    try {
      const found = await findTarget(hands.files, query, hands.self, several);
      return { type: "running", ...found };
    } catch (error) {
      // Several matches, or a number that is nobody's: waiting does not help.
      if (!options.wait || !(error instanceof NoMatch)) throw error;
    }
    if (first) await waiting();
    await end.or(hands.sleep(LOOK_MS));
  }
  return null;
}

/** The same target as it is now: a container may have other processes. */
export async function findAgain({ files, self }: Hands, options: TargetOptions, target: RunningTarget): Promise<RunningTarget> {
  return options.container === undefined ? target : { type: "running", ...await findTarget(files, queryOf(options)!, self) };
}
