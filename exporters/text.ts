import { harmless } from "../lib/events/text.ts";
import type { View } from "../lib/events/view.ts";
import { chartLines } from "./text/chart.ts";
import { factLines, noteLines } from "./text/facts.ts";
import { type Palette, palette } from "./text/palette.ts";
import { tableLines } from "./text/table.ts";
import { waterfallLines } from "./text/waterfall.ts";

export interface TextOptions {
  /** Columns of the terminal; less than 40 is taken as 40. Where there is no terminal, pass what reads well, such as 100. */
  readonly width: number;
  readonly colour: boolean;
}

const indent = "  ";

/** Views as text for a terminal, with a newline at the end; empty when there are none. */
export function renderText(views: readonly View[], { width, colour }: TextOptions): string {
  const paint = palette(colour);
  const inner = Math.max(40, width) - indent.length;
  let text = "";
  views.forEach((view, i) => {
    // Notes in a row are one paragraph each, everything else stands apart.
    if (i > 0 && !(view.type === "note" && views[i - 1]!.type === "note")) text += "\n";
    text += lines(view, inner, paint).map((line) => `${line}\n`).join("");
  });
  return text;
}

function lines(view: View, width: number, paint: Palette): string[] {
  if (view.type === "note") return noteLines(view, width + indent.length, paint);
  const body = view.type === "table"
    ? tableLines(view, width, paint)
    : view.type === "waterfall"
    ? waterfallLines(view, width, paint)
    : view.type === "chart"
    ? chartLines(view, width, paint)
    : factLines(view, width, paint);
  return [paint.title(harmless(view.title)), ...body.map((line) => indent + line)];
}
