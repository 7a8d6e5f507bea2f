import { setTimeout as pause } from "node:timers/promises";
import { bootNow } from "../kernel/boot_clock.ts";
import type { ShapeName } from "../workloads/shapes.ts";
import { EnginesInTurn, type TokenCost } from "./engines_in_turn.ts";
import { sayUntold, type Stretch } from "./pinned_engine.ts";

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

/** A window beside the two before and behind it, in which nothing was attached. */
export interface Pair {
  readonly mode: string;
  /** CPU time of a token by that of one of the untraced engine, by the mean of the same in the two windows beside it. NaN: too few tokens. */
  readonly ratio: number;
  /**
   * The same of its own CPU time, without the untraced engine: what neighbours do is in it, and so is what tracing does to caches and bandwidth that both
   * engines share.
   */
  readonly alone: number;
  /** CPU milliseconds of a token without. */
  readonly base: number;
}

export interface WindowOptions {
  readonly model: ShapeName;
  readonly threads: number;
  readonly windowMs: number;
  /** After so many an engine is replaced by a fresh one, whose memory lies elsewhere: what one engine's placement does must not decide. */
  readonly pairsOfAnEngine?: number;
}

/** `mode`: null where nothing was attached. */
export interface Window extends Stretch {
  readonly mode: string | null;
}

/** Each window in which something was attached beside the one before and the one behind it. */
export function pairsOf(windows: readonly Window[], cost: TokenCost): Pair[] {
  return windows.flatMap((each, i) => {
    if (each.mode === null) return [];
    const beside = (of: (stretch: Stretch) => number) => (of(windows[i - 1]!) + of(windows[i + 1]!)) / 2;
    const base = beside(cost.microseconds);
    return [{ mode: each.mode, ratio: cost.relative(each) / beside(cost.relative), alone: cost.microseconds(each) / base, base: base / 1000 }];
  });
}

/**
 * The windows of all modes in random order, each between two in which nothing is attached. `seen` is told of each pair as an engine ends; what has to be
 * done before each engine starts, `prepare` does.
 */
export async function comparedWindows(
  modes: readonly Mode[],
  options: WindowOptions,
  seen: (pairs: readonly Pair[]) => void,
  prepare = async () => {},
): Promise<void> {
  const order = shuffled(modes.flatMap((mode) => Array<Mode>(mode.pairs).fill(mode)));
  const { pairsOfAnEngine = 10 } = options;
  for (let i = 0; i < order.length; i += pairsOfAnEngine) {
    await prepare();
    seen(await oneEngine(order.slice(i, i + pairsOfAnEngine), options));
  }
}

async function oneEngine(order: readonly Mode[], { model: shape, threads, windowMs }: WindowOptions): Promise<Pair[]> {
  await using engines = await EnginesInTurn.start(shape, threads);
  const windows = [await window(null, windowMs)];
  for (const mode of order) {
    const detach = await mode.attach(engines.traced.pid);
    await pause(mode.settleMs);
    windows.push(await window(mode.name, windowMs));
    await detach();
    windows.push(await window(null, windowMs));
  }
  const pairs = pairsOf(windows, await engines.end());
  sayUntold(pairs.map(({ ratio }) => ratio));
  return pairs;
}

async function window(mode: string | null, milliseconds: number): Promise<Window> {
  const from = bootNow();
  await pause(milliseconds);
  return { mode, from, to: bootNow() };
}

export function shuffled<T>(items: readonly T[]): T[] {
  return items.map((item) => ({ item, at: Math.random() })).sort((a, b) => a.at - b.at).map(({ item }) => item);
}
