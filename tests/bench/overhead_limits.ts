import { percent } from "../../lib/events/text.ts";
import type { ShapeName } from "../workloads/shapes.ts";
import { judged } from "./judged.ts";
import type { ModeName, Overhead } from "./overhead.ts";

/** Of the time, watched by `turns`. */
export const SHARE = 0.25;
/** What is allowed to `held`. */
export const HELD = 0.02;

/** What looks at every operator: most of a token, and more than counting. */
const EVERY_OPERATOR = ["timeline", "sum"] as const;
const MOST: Partial<Record<ShapeName, number>> = { billion: 1.015, small: 1.04 };
const MOST_MORE = 0.005;
/** What looks at none; a token of another model is too short for what its own few traps take. */
const MOST_WITHOUT: Partial<Record<ShapeName, Partial<Record<ModeName, number>>>> = { billion: { graph: 1.003, sample: 1.005, token: 1.003 } };

/** What was measured of one thread, with its limits. */
export function limits(ratios: Overhead["ratios"], model: ShapeName): string[] {
  const median = (name: ModeName) => ratios.get(name)?.median;
  const timeline = median("timeline"), counting = median("counting");
  // As much is made of nothing.
  const orControl = (most: number) => Math.max(most, ratios.get("control")?.high ?? 1);
  const most: Partial<Record<ModeName, number>> = {
    held: 1 + HELD,
    ...(timeline !== undefined && { turns: orControl(1 + SHARE * (timeline - 1)) }),
    ...Object.fromEntries(Object.entries(MOST_WITHOUT[model] ?? {}).map(([name, most]) => [name, orControl(most)])),
    ...(MOST[model] !== undefined && Object.fromEntries(EVERY_OPERATOR.map((name) => [name, MOST[model]]))),
  };
  const alone = Object.entries(most).flatMap(([name, most]) => {
    const ratio = median(name as ModeName);
    return ratio === undefined ? [] : [judged(`${name} × ${ratio.toFixed(4)} (${most.toFixed(4)} at most)`, ratio <= most)];
  });
  const beside = EVERY_OPERATOR.flatMap((name) => {
    const ratio = median(name);
    if (ratio === undefined || counting === undefined) return [];
    const more = ratio - counting;
    return [judged(`${name} ${percent(more)} more than counting (${percent(MOST_MORE)} at most)`, more <= MOST_MORE)];
  });
  return [...alone, ...beside];
}
