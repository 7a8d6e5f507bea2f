import type { Note, View } from "../events/view.ts";
import { firstRows } from "./first_rows.ts";
import type { CountersResult, OperatorsResult } from "./operators_schema.ts";
import { info } from "./quality.ts";

/** Operators beyond these take few cycles. */
const MAX_ROWS = 15;

/** What the processor counted by operator, and where that says something else than shapes and times do. */
export function presentCounters({ counters, operators }: OperatorsResult): View[] {
  if (!counters) return [];
  const { title, shown } = firstRows("What the processor counted, by samples of its counters", counters.operators, MAX_ROWS);
  return [
    {
      type: "table",
      title,
      columns: [
        { title: "operator", unit: "text" },
        { title: "cycles", unit: "count" },
        { title: "instructions", unit: "count" },
        { title: "per cycle", unit: "text" },
        { title: "cache misses", unit: "count" },
        { title: "of references", unit: "ratio" },
        { title: "branch misses", unit: "count" },
        { title: "stalled", unit: "ratio" },
        { title: "bound by", unit: "text" },
      ],
      rows: shown.map((row) => [
        row.name ?? "none",
        row.cycles,
        row.instructions,
        row.ipc === null ? null : `${row.ipc.toFixed(2)} ± ${row.ipcError!.toFixed(2)}`,
        row.cacheMisses,
        row.missRate,
        row.branchMisses,
        row.stalledCycles === null || row.cycles === 0 ? null : row.stalledCycles / row.cycles,
        row.bound,
      ]),
    },
    ...shown.flatMap((row) => differs(row, operators)),
  ];
}

/** The two ways of telling what binds an operator look at different things: where they differ, one should know. */
function differs({ name, bound, ipc, missRate }: CountersResult["operators"][number], operators: OperatorsResult["operators"]): Note[] {
  const shapes = operators.find((row) => row.name === name)?.bound;
  if (!bound || !shapes || bound === "mixed" || bound === shapes.by) return [];
  const counted = `its counters say ${bound} (${ipc!.toFixed(2)} instructions in a cycle, ${(missRate! * 100).toFixed(1)} % of references miss)`;
  return [info(`${name}: ${counted}, its shapes and times say ${shapes.by}.`)];
}
