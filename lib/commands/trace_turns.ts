import { askedFor, type Asking, type Detail, probesOf } from "../programs/detail.ts";
import type { Probe } from "../programs/probe.ts";
import type { Learning } from "../session/learning.ts";
import type { Means } from "../session/means.ts";
import type { SlowTokens } from "../session/slow_tokens.ts";
import type { RunningTarget } from "../session/target.ts";
import { learningTurns, regularTurns, slowTurns, type Turns } from "../session/turns.ts";
import { readStat } from "../target/process.ts";
import type { TargetOptions } from "./find_target.ts";
import type { Profile } from "./profile.ts";

/** What options say of turns, and what is asked for besides. */
type TurnOptions = Pick<TargetOptions, "for" | "every"> & Asking;

/** `find`: looks for it again, because what belongs to a container comes and goes. */
export async function turnsOf(
  target: RunningTarget,
  find: () => Promise<RunningTarget | null>,
  next: Turns["next"],
  means: Pick<Means, "files">,
): Promise<Turns> {
  const ticks = async () => (await readStat(means.files, target.pid))?.startTicks;
  const startTicks = await ticks();
  return {
    next,
    target: async () => {
      const found = await find().catch(() => null);
      // Its number may be another's by then; and what it was called by another's, or that of several.
      return await ticks() !== startTicks ? null : found?.pid === target.pid ? found : target;
    },
  };
}

/** For how long operators are looked at when a token was slow, unless `--for` says otherwise. */
const SLOW_LOOK_MS = 2000;

/** Undefined where the target is watched all the time. */
export function nextTurn(
  { for: forMs = SLOW_LOOK_MS, every }: TurnOptions,
  probes: readonly Probe[],
  detail: Detail,
  slow: SlowTokens | undefined,
  means: Means,
): Turns["next"] | undefined {
  const look = probesOf(detail, probes);
  if (slow) return slowTurns(means, slow, { watch: probesOf("token", probes), look, forMs });
  return every === undefined ? undefined : regularTurns(means, look, forMs, every);
}

/** A pass through a model is seldom longer, and what it runs comes again in each. */
export const LEARN_MS = 2000;

export function learningTurn(
  { learn, look }: NonNullable<Profile<unknown>["learns"]>,
  learning: Learning,
  { for: forMs, every: everyMs, ...asked }: TurnOptions,
  means: Means,
): Turns["next"] {
  const turns = { learn, look: (functions: readonly string[]) => askedFor(look(functions), asked) };
  return learningTurns(means, learning, turns, forMs === undefined || everyMs === undefined ? undefined : { forMs, everyMs });
}
