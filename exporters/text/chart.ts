import { harmless } from "../../lib/events/text.ts";
import type { Chart } from "../../lib/events/view.ts";
import { clip, columns, left, right } from "./cells.ts";
import type { Palette } from "./palette.ts";
import { quantity } from "../../lib/events/quantity.ts";

const gap = "  ";
const widestName = 24;
const steps = "▁▂▃▄▅▆▇█";

/** A line for each series: its name, its course in so many columns as there are left, and its highest value. */
export function chartLines({ series, unit, form }: Chart, width: number, paint: Palette): string[] {
  if (series.length === 0) return [paint.quiet("(none)")];
  const names = series.map(({ name }) => clip(harmless(name), widestName));
  const most = series.map(({ values }) => Math.max(0, ...values.map((value) => value ?? 0)));
  const figures = most.map((value) => quantity(value, unit));
  const nameWidth = Math.max(...names.map(columns)), figureWidth = Math.max(...figures.map(columns));
  const longest = Math.max(...series.map(({ values }) => values.length));
  const room = Math.min(longest, Math.max(8, width - nameWidth - figureWidth - 2 * gap.length - "at most ".length));
  const top = Math.max(...most);
  return series.map(({ values }, i) => {
    const course = courseOf(values, room, top, form === "log");
    return `${left(names[i]!, nameWidth)}${gap}${paint.bar(left(course, room))}${gap}${paint.quiet("at most ")}${right(figures[i]!, figureWidth)}`;
  });
}

/** The highest value of each column; where none is known, nothing. */
function courseOf(values: readonly (number | null)[], room: number, top: number, isLog: boolean): string {
  const length = Math.min(room, values.length);
  return Array.from({ length }, (_, i) => {
    const part = values.slice(Math.floor(i * values.length / length), Math.floor((i + 1) * values.length / length));
    const known = part.filter((value) => value !== null);
    if (known.length === 0) return " ";
    const value = Math.max(...known);
    const height = top === 0 ? 0 : isLog ? Math.log2(1 + value) / Math.log2(1 + top) : value / top;
    return steps[Math.min(steps.length - 1, Math.floor(height * steps.length))];
  }).join("");
}
