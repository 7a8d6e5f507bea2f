import { Cache, machineKey } from "../machine/cache.ts";
import { type Ceilings, highest, parseCeilings } from "../machine/ceilings/ceilings.ts";
import { measureCeilings } from "../machine/ceilings/measure.ts";
import { type Calibration, parseCalibration, uncalibrated } from "../machine/calibration.ts";
import { calibrate, calibratedWith } from "../session/calibrate.ts";
import type { Means } from "../session/means.ts";

/** `now`: measured again; `needed`: measured unless it was; `kept`: what is known already, so that a run is not kept waiting. */
export type CalibrationWish = "now" | "needed" | "kept";

/**
 * What a hit costs here: measured once for this bpftrace and boot, and for what llmprof measures. `begin` is told when a measurement begins, which takes
 * seconds, or until `stop` resolves.
 */
export async function readCalibration(
  means: Means,
  bufferPages: number,
  wish: CalibrationWish,
  begin: () => void,
  stop: Promise<unknown>,
): Promise<Calibration> {
  const key = means.machine.cacheKey;
  const cache = key && new Cache(key);
  const by = calibratedWith(means), kept = cache?.read("calibration") as { readonly by?: unknown } | null;
  const known = wish !== "now" && kept?.by === by ? parseCalibration(kept) : null;
  if (known) return known;
  if (wish === "kept") return uncalibrated;
  begin();
  const measured = await calibrate(means, bufferPages, stop);
  if (!measured) return uncalibrated;
  cache?.write("calibration", { ...measured, by });
  return { ...measured, measured: true };
}

/** What this machine can do at most: measured only where that is asked for, because it keeps every CPU busy for a second or more. Null where it is not known. */
export async function readCeilings(means: Means, wish: "now" | "kept", stop: Promise<unknown>): Promise<readonly Ceilings[] | null> {
  const key = means.machine.cacheKey;
  const cache = key && new Cache(machineKey(key));
  const kept = parseCeilings(cache?.read("ceilings"));
  if (wish === "kept") return kept;
  const measured = await measureCeilings(means, stop);
  if (!measured) return null;
  const best = highest(measured, kept ?? []);
  cache?.write("ceilings", best);
  return best;
}

/** One line for each number of threads. */
export function ceilingsTexts(all: readonly Ceilings[]): string[] {
  const giga = (perSecond: number) => (perSecond / 1e9).toFixed(perSecond < 99.5e9 ? 1 : 0);
  return all.map(({ threads, memoryBytes, cacheBytes, flops, byteOperations, bf16Flops }) =>
    `${threads === 1 ? "One thread reads" : `${threads} threads read`} ${giga(memoryBytes)} GB/s from memory and ${
      cacheBytes === null ? "an unknown rate" : `${giga(cacheBytes)} GB/s`
    } from the last-level cache, ` +
    `and ${threads === 1 ? "computes" : "compute"} ${giga(flops)} GFLOP/s, ${giga(byteOperations)} on bytes, ${giga(bf16Flops)} on bf16.`
  );
}

/** For people. */
export function microseconds(ns: number): string {
  return `${(ns / 1000).toFixed(ns < 9950 ? 2 : 1)} µs`;
}

/** One line for people: what a hit costs. */
export function calibrationText({ nop, emulated, stepped, back, printed, measured }: Calibration): string {
  const costs = `nop ${microseconds(nop)}, emulated ${microseconds(emulated)}, stepped ${microseconds(stepped)}, and ${
    microseconds(back)
  } more for a return`;
  const waking = printed > 0 ? `, ${microseconds(printed)} for a record that wakes bpftrace (before 0.19)` : "";
  return `A hit with its record costs the traced thread: ${costs}${waking}${measured ? "" : " (usual values: --calibrate measures them here)"}.`;
}
