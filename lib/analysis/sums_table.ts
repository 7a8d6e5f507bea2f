import type { Table } from "../events/view.ts";
import { type Figure, figuresTable } from "./figures_table.ts";
import type { OperatorSumsResult } from "./operators_schema.ts";

/** Sums of calls, one row each. */
export function sumsTable(title: string, first: string, rows: readonly (readonly [string | number, OperatorSumsResult])[]): Table {
  // A column that is empty for every row says nothing.
  const others = rows.some(([, row]) => row.othersNs > 0);
  const phases = rows.some(([, row]) => row.prefill.totalNs > 0 || row.decode.totalNs > 0);
  const other = phases && rows.some(([, row]) => row.other.totalNs > 0);
  const each = rows.some(([, row]) => row.p50Ns !== null);
  const columns: Figure<OperatorSumsResult>[] = [
    [{ title: "calls", unit: "count" }, (row) => row.calls],
    [{ title: "total", unit: "ns" }, (row) => row.totalNs],
    [{ title: "share", unit: "ratio" }, (row) => row.share],
    [{ title: "mean", unit: "ns" }, (row) => row.meanNs],
    ...(each ? [[{ title: "p50", unit: "ns" }, (row) => row.p50Ns]] satisfies Figure<OperatorSumsResult>[] : []),
  ];
  if (phases) {
    columns.push([{ title: "prefill", unit: "ns" }, (row) => row.prefill.totalNs], [{ title: "decode", unit: "ns" }, (row) => row.decode.totalNs]);
  }
  if (other) columns.push([{ title: "other", unit: "ns" }, (row) => row.other.totalNs]);
  if (others) columns.push([{ title: "other workers", unit: "ns" }, (row) => row.othersNs]);
  if (others && rows.some(([, row]) => row.waitNs !== null)) columns.push([{ title: "waiting", unit: "ratio" }, waiting]);
  return figuresTable(title, first, rows, columns);
}

/** Of the time of all workers. */
function waiting({ totalNs, othersNs, waitNs, othersWaitNs }: OperatorSumsResult): number | null {
  const all = totalNs + othersNs;
  return all > 0 ? (Number(waitNs) + Number(othersWaitNs)) / all : null;
}
