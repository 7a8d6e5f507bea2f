import { harmless } from "../../lib/events/text.ts";
import type { Table } from "../../lib/events/view.ts";
import { clip, columns, left, right, wrap } from "./cells.ts";
import type { Palette } from "./palette.ts";
import { quantity } from "../../lib/events/quantity.ts";

const gap = "  ";
/** No column of text is made narrower than this: rather let the terminal wrap. */
const narrowest = 12;

/** Before what stands under a row, and before what its column is called. */
const indent = "    ", under = "↓ ";

/** Lines of a table: text to the left, figures to the right, and only text gives way when the terminal is narrow. */
export function tableLines(table: Table, width: number, paint: Palette): string[] {
  if (table.rows.length === 0) return [paint.quiet("(none)")];
  const places = table.columns.map((_, i) => i).filter((i) => !table.columns[i]!.below);
  const below = table.columns.map((_, i) => i).filter((i) => table.columns[i]!.below);
  const numeric = places.map((i) => table.columns[i]!.unit !== "text");
  const titles = places.map((i) => harmless(table.columns[i]!.title));
  const cells = table.rows.map((row) => places.map((i) => harmless(quantity(row[i] ?? null, table.columns[i]!.unit))));
  const widths = titles.map((title, i) => Math.max(columns(title), ...cells.map((row) => columns(row[i]!))));
  shrink(widths, numeric, width - gap.length * (widths.length - 1));
  const line = (row: readonly string[]) =>
    row.map((cell, i) => numeric[i] ? right(cell, widths[i]!) : left(clip(cell, widths[i]!), widths[i]!)).join(gap).trimEnd();
  const rule = widths.map((size) => "─".repeat(size)).join(gap);
  const head = [line(titles), ...below.map((i) => under + harmless(table.columns[i]!.title))].join(gap);
  const lines = table.rows.flatMap((row, at) => [
    line(cells[at]!),
    ...below.flatMap((i) => row[i] == null ? [] : wrap(harmless(String(row[i])), width - indent.length).map((text) => indent + paint.quiet(text))),
  ]);
  return [paint.quiet(head), paint.quiet(rule), ...lines];
}

/** Takes columns from the widest text until all fit. */
function shrink(widths: number[], numeric: readonly boolean[], available: number): void {
  for (let excess = widths.reduce((sum, size) => sum + size, 0) - available; excess > 0; excess--) {
    let widest = -1;
    widths.forEach((size, i) => {
      if (!numeric[i] && size > narrowest && (widest < 0 || size > widths[widest]!)) widest = i;
    });
    if (widest < 0) return;
    widths[widest]!--;
  }
}
