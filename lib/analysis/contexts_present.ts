import type { Column, Facts, Table } from "../events/view.ts";
import { firstRows } from "./first_rows.ts";
import type { OperatorsResult } from "./operators_schema.ts";

const MAX_ROWS = 20;

/** How many guesses were right; nothing where nobody guessed. */
export function guessFacts({ guessed, kept }: OperatorsResult["tokens"]): Facts["facts"] {
  if (guessed === 0) return [];
  return [{ name: "  guessed right", value: kept, unit: "count", note: `of ${guessed} that were tried, ${(100 * kept / guessed).toFixed(0)} %` }];
}

/** An engine has a second one for the model that guesses, or for texts to embed. */
export function presentContexts({ contexts, processes }: OperatorsResult): Table {
  type Row = OperatorsResult["contexts"][number];
  const columns: (readonly [Column, (row: Row) => number])[] = [
    [{ title: "prompt", unit: "count" }, (row) => row.prefill],
    [{ title: "generated", unit: "count" }, (row) => row.decode],
    [{ title: "calls", unit: "count" }, (row) => row.prefillCalls + row.decodeCalls],
    [{ title: "llama_decode", unit: "ns" }, (row) => row.prefillNs + row.decodeNs],
  ];
  if (contexts.some(({ guessed }) => guessed > 0)) {
    columns.splice(2, 0, [{ title: "guessed", unit: "count" }, (row) => row.guessed], [{ title: "kept", unit: "count" }, (row) => row.kept]);
  }
  const name = ({ pid, address, guesses }: Row) => `${processes > 1 ? `${pid} ` : ""}${address}${guesses ? " (guesses for another)" : ""}`;
  const { title, shown } = firstRows("Contexts", contexts, MAX_ROWS);
  return {
    type: "table",
    title,
    columns: [{ title: "context", unit: "text" }, ...columns.map(([column]) => column)],
    rows: shown.map((row) => [name(row), ...columns.map(([, value]) => value(row))]),
  };
}
