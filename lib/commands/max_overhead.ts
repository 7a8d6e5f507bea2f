import { ExitCode, LlmprofError } from "../events/errors.ts";
import type { Calibration } from "../machine/calibration.ts";
import { type Detail, detailsOf } from "../programs/detail.ts";
import type { Probe } from "../programs/probe.ts";
import { type Look, lookAt, type LookOptions } from "../session/look.ts";
import type { Means } from "../session/means.ts";
import { percent } from "../session/percent.ts";
import type { RunningTarget } from "../session/target.ts";

export interface Limited {
  readonly detail: Detail;
  /** What is seen less than was asked for, as a note; null when nothing is. */
  readonly note: string | null;
  readonly look: Look | null;
}

const SEEN: Readonly<Record<Detail, string>> = {
  wait: "every operator and every wait at a barrier",
  op: "every operator",
  sum: "sums of every operator",
  graph: "graphs and tokens, no operators",
  sample: "tokens and a timer's samples, no graphs and operators",
  token: "tokens, no graphs and operators",
};

/**
 * Chooses the most detail, up to what was asked for, that is predicted to stay below `limit` (a fraction). Throws, with exit code 4, where even the
 * least does not.
 */
export async function withinLimit(
  means: Means,
  target: RunningTarget,
  probes: readonly Probe[],
  limit: number,
  calibration: Calibration,
  options: LookOptions,
): Promise<Limited> {
  const look = await lookAt(means, target, probes, calibration, options);
  try {
    return { ...chooseDetail(look?.predicted ?? null, detailsOf(probes, options.detail), limit), look };
  } catch (error) {
    await look?.ended;
    throw error;
  }
}

/**
 * `predicted`: overhead of each detail as a fraction, null where it is not known: then the limit is looked at again at the end of the run. `details`:
 * what was asked for, and what is less.
 */
export function chooseDetail(
  predicted: ReadonlyMap<Detail, number | null> | null,
  details: readonly Detail[],
  limit: number,
): Pick<Limited, "detail" | "note"> {
  const cost = (detail: Detail) => predicted?.get(detail) ?? 0;
  const chosen = details.find((detail) => cost(detail) <= limit);
  if (chosen === undefined) {
    const enough = Math.ceil(cost(details.at(-1)!) * 1000) / 10;
    throw new LlmprofError(
      ExitCode.limit,
      `Tracing would cost more than --max-overhead ${percent(limit)} allows.`,
      `Predicted: ${details.map((detail) => `${percent(cost(detail))} for ${SEEN[detail]}`).join(", ")}.`,
      `Allow more: --max-overhead ${enough}%`,
    );
  }
  const dearer = details[details.indexOf(chosen) - 1];
  const note = dearer === undefined
    ? null
    : `--max-overhead ${percent(limit)}: ${SEEN[dearer]} would cost ${percent(cost(dearer))}, so this run sees ${SEEN[chosen]} (${
      percent(cost(chosen))
    } predicted)`;
  return { detail: chosen, note };
}
