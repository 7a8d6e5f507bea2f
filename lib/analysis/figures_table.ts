import type { Column, Table } from "../events/view.ts";

/** A column, and what a row has in it. */
export type Figure<Row> = readonly [Column, (row: Row) => Table["rows"][number][number]];

/** A table of rows, `most` of them where those behind take less time, as its title then says. What is `false` is no column. */
export function tableOf<Row>(title: string, rows: readonly Row[], figures: readonly (Figure<Row> | false)[], most = Infinity): Table {
  const more = rows.length - most, shown = figures.filter((figure) => figure !== false);
  return {
    type: "table",
    title: more > 0 ? `${title} (${more} more take less)` : title,
    columns: shown.map(([column]) => column),
    rows: rows.slice(0, most).map((row) => shown.map(([, value]) => value(row))),
  };
}
