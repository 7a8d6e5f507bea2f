import type { Column, Table } from "../events/view.ts";

/** A column, and what a row has in it. */
export type Figure<Row> = readonly [Column, (row: Row) => number | null];

/** A table whose rows have a name, in a column called `first`, and figures. */
export function figuresTable<Row>(
  title: string,
  first: string,
  rows: readonly (readonly [name: string | number, Row])[],
  figures: readonly Figure<Row>[],
): Table {
  return {
    type: "table",
    title,
    columns: [{ title: first, unit: "text" }, ...figures.map(([column]) => column)],
    rows: rows.map(([name, row]) => [name, ...figures.map(([, value]) => value(row))]),
  };
}
