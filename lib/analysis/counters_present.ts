import type { Note, View } from "../events/view.ts";
import { tableOf } from "./figures_table.ts";
import type { CountersResult, OperatorsResult } from "./operators_schema.ts";
import { info } from "./quality.ts";

/** Operators beyond these take few cycles. */
const MAX_ROWS = 15;

/** What the processor counted by operator, and where that says something else than shapes and times do. */
export function presentCounters({ counters, operators }: OperatorsResult): View[] {
  if (!counters) return [];
  return [
    tableOf("What the processor counted, by samples of its counters", counters.operators, [
      [{ title: "operator", unit: "text" }, (row) => row.name ?? "none"],
      [{ title: "cycles", unit: "count" }, (row) => row.cycles],
      [{ title: "instructions", unit: "count" }, (row) => row.instructions],
      [{ title: "per cycle", unit: "text" }, ({ ipc, ipcError }) => ipc === null ? null : `${ipc.toFixed(2)} ± ${ipcError!.toFixed(2)}`],
      [{ title: "cache misses", unit: "count" }, (row) => row.cacheMisses],
      [{ title: "of references", unit: "ratio" }, (row) => row.missRate],
      [{ title: "branch misses", unit: "count" }, (row) => row.branchMisses],
      [{ title: "stalled", unit: "ratio" }, ({ stalledCycles, cycles }) => stalledCycles === null || cycles === 0 ? null : stalledCycles / cycles],
      [{ title: "bound by", unit: "text" }, (row) => row.bound],
    ], MAX_ROWS),
    ...counters.operators.slice(0, MAX_ROWS).flatMap((row) => differs(row, operators)),
  ];
}

/** The two ways of telling what binds an operator look at different things: where they differ, one should know. */
function differs({ name, bound, ipc, missRate }: CountersResult["operators"][number], operators: OperatorsResult["operators"]): Note[] {
  const shapes = operators.find((row) => row.name === name)?.bound;
  if (!bound || !shapes || bound === "mixed" || bound === shapes.by) return [];
  const counted = `its counters say ${bound} (${ipc!.toFixed(2)} instructions in a cycle, ${(missRate! * 100).toFixed(1)} % of references miss)`;
  return [info(`${name}: ${counted}, its shapes and times say ${shapes.by}.`)];
}
