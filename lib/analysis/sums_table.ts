import type { Table } from "../events/view.ts";
import { type Figure, tableOf } from "./figures_table.ts";
import type { OperatorSumsResult } from "./operators_schema.ts";

/** Sums of calls, one row each, `first` what they are of. */
export function sumsTable<Row extends OperatorSumsResult>(title: string, rows: readonly Row[], first: Figure<Row>, most?: number): Table {
  // A column that is empty for every row says nothing.
  const shown = rows.slice(0, most);
  const others = shown.some((row) => row.othersNs > 0);
  const phases = shown.some((row) => row.prefill.totalNs > 0 || row.decode.totalNs > 0);
  return tableOf(title, rows, [
    first,
    [{ title: "calls", unit: "count" }, (row) => row.calls],
    [{ title: "total", unit: "ns" }, (row) => row.totalNs],
    [{ title: "share", unit: "ratio" }, (row) => row.share],
    [{ title: "mean", unit: "ns" }, (row) => row.meanNs],
    shown.some((row) => row.p50Ns !== null) && [{ title: "p50", unit: "ns" }, (row) => row.p50Ns],
    phases && [{ title: "prefill", unit: "ns" }, (row) => row.prefill.totalNs],
    phases && [{ title: "decode", unit: "ns" }, (row) => row.decode.totalNs],
    phases && shown.some((row) => row.other.totalNs > 0) && [{ title: "other", unit: "ns" }, (row) => row.other.totalNs],
    others && [{ title: "other workers", unit: "ns" }, (row) => row.othersNs],
    others && shown.some((row) => row.waitNs !== null) && [{ title: "waiting", unit: "ratio" }, waiting],
    others && shown.some((row) => row.imbalance !== null) && [{ title: "imbalance", unit: "ratio" }, (row) => row.imbalance],
  ], most);
}

/** Of the time of all workers. */
function waiting({ totalNs, othersNs, waitNs, othersWaitNs }: OperatorSumsResult): number | null {
  const all = totalNs + othersNs;
  return all > 0 ? (Number(waitNs) + Number(othersWaitNs)) / all : null;
}
