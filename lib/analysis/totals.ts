import type { Span } from "../events/span.ts";
import type { View } from "../events/view.ts";
import type { Analysis } from "./analysis.ts";
import { QualityCount, qualityNotes } from "./quality.ts";
import type { TotalsResult } from "./snapshots_schema.ts";
import { Windows } from "./windows.ts";

/** Of a run that adds up: how many intervals there were. What they hold is in its files. */
export function totals(): Analysis<TotalsResult> {
  const windows = new Windows(), quality = new QualityCount();
  let intervals = 0;
  return {
    span(span: Span) {
      if (span.type === "instant" && span.totals) intervals++;
      if (span.type !== "mark") return;
      windows.mark(span);
      quality.mark(span);
    },
    result: () => ({ intervals, windows: windows.result(), quality: quality.result() }),
  };
}

export function presentTotals({ intervals, windows, quality }: TotalsResult): readonly View[] {
  return [
    ...qualityNotes(quality),
    {
      type: "facts",
      title: "Snapshots",
      facts: [{ name: "watched", value: windows.ns, unit: "ns" }, {
        name: "intervals",
        value: intervals,
        unit: "count",
        note: "the last may be shorter",
      }],
    },
  ];
}
