import type { Waterfall } from "../events/view.ts";
import type { CodeSamples, ColdstartStep } from "./coldstart_schema.ts";
import { samplesOf, whatRan } from "./running_code.ts";

interface Row {
  durationNs: number;
  steps: number;
  /** By name: how much of the row it is, the longest step of it, and whose code ran in all of them. */
  readonly parts: Map<string, { durationNs: number; longest: ColdstartStep; codes: readonly CodeSamples[] | undefined }>;
}

/** A step shorter than this share of the whole is no row of its own. */
const SMALLEST_SHARE = 0.01;

/**
 * At most `max` rows for a person to read. The shortest step goes to the shorter of its neighbours, and neighbours that have become the same
 * thing become one, until what is left fits and matters; a row is called by what makes up most of it. Rows still follow each other and sum to the total.
 */
export function condense(steps: readonly ColdstartStep[], max: number): Waterfall["steps"] {
  const rows = steps.map((step): Row => ({
    durationNs: step.durationNs,
    steps: 1,
    parts: new Map([[step.name, { durationNs: step.durationNs, longest: step, codes: step.codes }]]),
  }));
  const total = rows.reduce((sum, { durationNs }) => sum + durationNs, 0);
  while (rows.length > 1) {
    const shortest = rows.reduce((best, row, i) => (row.durationNs < rows[best]!.durationNs ? i : best), 0);
    if (rows.length <= max && rows[shortest]!.durationNs >= total * SMALLEST_SHARE) break;
    const [before, after] = [rows[shortest - 1], rows[shortest + 1]];
    const isBefore = after === undefined || (before !== undefined && before.durationNs <= after.durationNs);
    // The place of the row that has grown.
    const grown = isBefore ? shortest - 1 : shortest;
    merge(rows, grown);
    if (rows[grown + 1] && nameOf(rows[grown]!) === nameOf(rows[grown + 1]!)) merge(rows, grown);
    if (rows[grown - 1] && nameOf(rows[grown]!) === nameOf(rows[grown - 1]!)) merge(rows, grown - 1);
  }
  let start = 0;
  return rows.map((row) => {
    const name = nameOf(row);
    const { durationNs, longest, codes } = row.parts.get(name)!;
    const more = row.steps > 1 ? `with ${row.steps - 1} shorter ${row.steps === 2 ? "step" : "steps"}` : undefined;
    const note = [codes ? whatRan(codes, durationNs) : longest.note, more].filter((part) => part !== undefined).join(", ");
    const shown = { name, start, duration: row.durationNs, ...(note !== "" && { note }) };
    start += row.durationNs;
    return shown;
  });
}

/** Puts the row behind `at` into the one at it. */
function merge(rows: Row[], at: number): void {
  const [row, next] = [rows[at]!, rows[at + 1]!];
  row.durationNs += next.durationNs;
  row.steps += next.steps;
  for (const [name, part] of next.parts) {
    const own = row.parts.get(name);
    if (!own) row.parts.set(name, part);
    else {
      own.durationNs += part.durationNs;
      own.codes &&= summed([...own.codes, ...part.codes ?? []]);
      if (part.longest.durationNs > own.longest.durationNs) own.longest = part.longest;
    }
  }
  rows.splice(at + 1, 1);
}

function summed(codes: readonly CodeSamples[]): CodeSamples[] {
  return [...Map.groupBy(codes, ({ code }) => code)].map(([code, some]) => ({ code, samples: samplesOf(some) }));
}

function nameOf({ parts }: Row): string {
  let [best, most] = ["", -1];
  for (const [name, { durationNs }] of parts) if (durationNs > most) [best, most] = [name, durationNs];
  return best;
}
