import type { Probe } from "../programs/probe.ts";
import type { Learning } from "./learning.ts";
import type { Means } from "./means.ts";
import type { SlowTokens } from "./slow_tokens.ts";
import type { RunningTarget } from "./target.ts";

/** A time in which a target is watched, with programs of its own. */
export interface Turn {
  readonly probes: readonly Probe[];
  /** Why it comes, where that is not the clock. */
  readonly note?: string;
  /** It is the first, in which is learned what the others look at. */
  readonly learns?: true;
  /** It is looked at for good, as a target is that is not watched in turns. */
  readonly lasts?: true;
  /** Resolves when it is over; called when it counts. */
  over(): Promise<unknown>;
  /** Resolves when the next one may begin, and is called when nothing of it is attached any more; absent: at once. */
  rest?(): Promise<unknown>;
}

/** A target that is watched in turns. */
export interface Turns {
  /** The first, or what follows the one that is over. */
  next(): Turn;
  /** The target as it is now, or null when it has ended. */
  target(): Promise<RunningTarget | null>;
}

/** For `forMs` of every `everyMs`. A turn that took too long to attach or to detach costs the next one, not its length. */
export function regularTurns({ sleep, monotonic }: Means, probes: readonly Probe[], forMs: number, everyMs: number): Turns["next"] {
  let begun: number | undefined;
  const over = () => {
    begun ??= monotonic();
    return sleep(forMs);
  };
  const rest = () => sleep(everyMs - (monotonic() - begun!) % everyMs);
  return () => ({ probes, over, rest });
}

/** What runs is learned first, and then looked at: for good, or for `forMs` of every `everyMs`. */
export function learningTurns(
  means: Means,
  learning: Learning,
  { learn, look }: { readonly learn: readonly Probe[]; readonly look: (functions: readonly string[]) => readonly Probe[] },
  regularly?: { readonly forMs: number; readonly everyMs: number },
): Turns["next"] {
  let begun = false;
  let looking: Turns["next"] | undefined;
  return () => {
    if (looking) return looking();
    if (!begun) {
      begun = true;
      return { probes: learn, learns: true, over: () => learning.over() };
    }
    const probes = look(learning.functions);
    const good = (): Turn => ({ probes, lasts: true, over: () => new Promise(() => {}) });
    looking = regularly ? regularTurns(means, probes, regularly.forMs, regularly.everyMs) : good;
    const first = looking();
    const over = () => {
      learning.applied();
      return first.over();
    };
    return { ...first, over, note: learning.learned };
  };
}

/** `watch` until a token is slow, then `look` for `forMs`, and so on. */
export function slowTurns(
  { sleep }: Means,
  tokens: SlowTokens,
  { watch, look, forMs }: { readonly watch: readonly Probe[]; readonly look: readonly Probe[]; readonly forMs: number },
): Turns["next"] {
  let note: string | undefined, again: string | undefined;
  return () => {
    const why = note;
    note = undefined;
    if (why !== undefined) return { probes: look, note: why, over: () => sleep(forMs) };
    const back = again;
    again = "tokens alone again, until one is slow";
    const over = async () => {
      const { ns, median } = await tokens.next();
      const ms = (value: number) => (value / 1e6).toFixed(1);
      note = `a token took ${ms(ns)} ms, ${(ns / median).toFixed(1)} times the median of those before (${ms(median)} ms): ` +
        `operators are looked at for ${forMs / 1000} s`;
    };
    return { probes: watch, ...(back !== undefined && { note: back }), over };
  };
}
