/** Of rows in the order of their time, those that are shown, and a title that says how many are not. */
export function firstRows<Row>(title: string, rows: readonly Row[], most: number): { readonly title: string; readonly shown: readonly Row[] } {
  const more = rows.length - most;
  return { title: more > 0 ? `${title} (${more} more take less)` : title, shown: rows.slice(0, most) };
}
