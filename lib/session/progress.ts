import type { ChildEnd } from "../machine/child.ts";

/** What a status line may tell. */
export type Progress =
  /** `to`: a process that runs already. */
  | { readonly state: "attaching"; readonly to?: { readonly pid: number; readonly argv: readonly string[] } }
  | { readonly state: "waiting" }
  /** Somebody has started who was not the one that is waited for. */
  | { readonly state: "passed"; readonly pid: number; readonly why?: string }
  /** `learns`: what it will look at. */
  | { readonly state: "counting"; readonly pid: number; readonly sites: number; readonly learns: boolean }
  | { readonly state: "gate"; readonly pid: number; readonly what: "library mapped" | "call reached"; readonly milliseconds: number }
  /** The target ended, and its next life is waited for. */
  | { readonly state: "again"; readonly pid: number }
  /** The target is left alone until its next turn. */
  | { readonly state: "resting"; readonly pid: number }
  /** The target is looked at in another way from now on; `lasts`: for good. */
  | { readonly state: "turn"; readonly why: string; readonly lasts: boolean }
  /** The program that we started: how it ended, or null when it goes on without us. */
  | { readonly state: "left"; readonly pid: number; readonly end: ChildEnd | null }
  | { readonly state: "looking" }
  | { readonly state: "calibrating" }
  /** `overhead`: of the target's own CPU time, without what these layers cost; `calibrated`: what a hit costs was measured here. */
  | {
    readonly state: "predicted";
    readonly overhead: number;
    readonly hitsPerSecond: number;
    readonly unpriced: readonly string[];
    readonly calibrated: boolean;
  }
  | { readonly state: "draining" };
