import type { Waterfall } from "../events/view.ts";
import type { ColdstartStep } from "./coldstart_schema.ts";

interface Row {
  /** The longest of what is put together: it gives its name. */
  main: ColdstartStep;
  durationNs: number;
  steps: number;
}

/**
 * At most `max` rows for a person to read: the shortest step goes to the shorter of its neighbours until they fit. Rows still follow each other
 * and sum to the total.
 */
export function condense(steps: readonly ColdstartStep[], max: number): Waterfall["steps"] {
  const rows: Row[] = steps.map((step) => ({ main: step, durationNs: step.durationNs, steps: 1 }));
  while (rows.length > Math.max(1, max)) {
    const shortest = rows.reduce((best, row, i) => (row.durationNs < rows[best]!.durationNs ? i : best), 0);
    const [before, after] = [rows[shortest - 1], rows[shortest + 1]];
    const into = before && after ? (before.durationNs <= after.durationNs ? before : after) : (before ?? after)!;
    const row = rows[shortest]!;
    if (row.main.durationNs > into.main.durationNs) into.main = row.main;
    into.durationNs += row.durationNs;
    into.steps += row.steps;
    rows.splice(shortest, 1);
  }
  let start = 0;
  return rows.map(({ main, durationNs, steps }) => {
    const more = steps > 1 ? `with ${steps - 1} shorter ${steps === 2 ? "step" : "steps"}` : undefined;
    const note = [main.note, more].filter((part) => part !== undefined).join(", ");
    const row = { name: main.name, start, duration: durationNs, ...(note !== "" && { note }) };
    start += durationNs;
    return row;
  });
}
