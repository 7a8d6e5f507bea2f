/** Nanoseconds of CPU time that a hit costs the thread that is traced, by cost class: the trap, what an operator's program does, and its record. */
export interface HitCosts {
  readonly nop: number;
  readonly emulated: number;
  readonly stepped: number;
  /** What a return probe costs more than the entry where it is trapped first: the way back. */
  readonly back: number;
  /** What a record costs more that is printed at once where others are rows of a map (no ring buffer): it wakes the reader. */
  readonly printed: number;
}

/** By measurement in a virtual machine, where nothing was measured here: bare metal is cheaper, above all where an instruction is stepped over. */
const usualCosts: HitCosts = { nop: 1500, emulated: 1700, stepped: 11_000, back: 1000, printed: 14_000 };

/** What a hit costs here, and whether that was measured here. */
export interface Calibration extends HitCosts {
  readonly measured: boolean;
}

export const uncalibrated: Calibration = { ...usualCosts, measured: false };

/** What a cache kept; null when it is no calibration. */
export function parseCalibration(kept: unknown): Calibration | null {
  const costs = kept as Partial<Record<keyof HitCosts, unknown>> | null;
  if (typeof costs !== "object" || costs === null) return null;
  const cost = (name: keyof HitCosts) => {
    const value = costs[name];
    return typeof value === "number" && value >= 0 && value < 1e9 ? value : NaN;
  };
  const found = { nop: cost("nop"), emulated: cost("emulated"), stepped: cost("stepped"), back: cost("back"), printed: cost("printed") };
  return Object.values(found).some(Number.isNaN) ? null : { ...found, measured: true };
}
