import { ExitCode, LlmprofError } from "../events/errors.ts";
import { percent } from "../events/text.ts";
import type { Calibration } from "../machine/calibration.ts";
import { type Detail, detailsOf, withOperators } from "../programs/detail.ts";
import type { Probe } from "../programs/probe.ts";
import { type Look, lookAt, type LookOptions } from "../session/look.ts";
import type { Means } from "../session/means.ts";
import type { RunningTarget } from "../session/target.ts";

export interface Limited {
  readonly detail: Detail;
  /** What each detail is predicted to cost, what is seen less than was asked for, and what of it could not be looked at. */
  readonly notes: readonly string[];
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
    const { detail, notes } = chooseDetail(look?.predicted ?? null, detailsOf(probes, options.detail), limit);
    const unseen = probes.some(({ library }) => library?.each)
      ? [`--max-overhead ${percent(limit)}: calls into GPU libraries are not looked at before attaching, and count from then on`]
      : [];
    return { detail, notes: [...notes, ...unseen], look };
  } catch (error) {
    await look?.ended;
    throw error;
  }
}

/**
 * `predicted`: overhead of each detail as a fraction, null where it is not known: then it is predicted while the run goes on. `details`: what was asked
 * for, and what is less.
 */
export function chooseDetail(
  predicted: ReadonlyMap<Detail, number | null> | null,
  details: readonly Detail[],
  limit: number,
): Pick<Limited, "detail" | "notes"> {
  const cost = (detail: Detail) => predicted?.get(detail) ?? 0;
  // Whoever has no choice is told no names of it.
  const named = details.length > 1;
  const prices = `Predicted: ${details.map((detail) => `${percent(cost(detail))}${named ? ` for ${SEEN[detail]}` : ""}`).join(", ")}`;
  const chosen = details.find((detail) => cost(detail) <= limit);
  if (chosen === undefined) {
    throw tooDear(limit, `${prices}.`, allowMore(cost(details.at(-1)!)));
  }
  if (!predicted) return { detail: chosen, notes: [unchecked(limit, "the target had not mapped yet what is looked at")] };
  if (predicted.get(chosen) === null) {
    return { detail: chosen, notes: [unchecked(limit, "the target did nothing in the second for which it was looked at")] };
  }
  const dearer = details[details.indexOf(chosen) - 1];
  if (dearer === undefined) return { detail: chosen, notes: [prices] };
  const less = `${SEEN[dearer]} would cost ${percent(cost(dearer))}, so this run sees ${SEEN[chosen]} (${percent(cost(chosen))} predicted)`;
  return { detail: chosen, notes: [prices, `--max-overhead ${percent(limit)}: ${less}`] };
}

/** Nothing is attached. */
export function tooDear(limit: number, why: string, next: string): LlmprofError {
  return new LlmprofError(ExitCode.limit, `Tracing would cost more than --max-overhead ${percent(limit)} allows.`, why, next);
}

/** What was found, and what no limit holds. */
export function onTop(limited: Limited, limit: number, unpriced: readonly string[]): Limited {
  if (unpriced.length === 0) return limited;
  const note = `--max-overhead ${percent(limit)}: the cost of ${unpriced.join(" and ")} is not predicted, and comes on top`;
  return { ...limited, notes: [...limited.notes, note] };
}

/** A note on a run that begins without knowing what it will cost. */
export function unchecked(limit: number, why: string): string {
  return `--max-overhead ${percent(limit)} could not be checked before attaching: ${why}`;
}

/** What to type where `detail` of these costs so much: for less, or where there is none, for a limit that is enough. */
export function nextStep(detail: Detail, details: readonly Detail[], overhead: number): string {
  // All that look at operators cost about the same.
  const less = details.slice(details.indexOf(detail) + 1).find((other) => !withOperators.includes(other));
  return less === undefined ? allowMore(overhead) : `See less: --detail ${less}`;
}

function allowMore(overhead: number): string {
  return `Allow more: --max-overhead ${Math.ceil(overhead * 1000) / 10}%`;
}
