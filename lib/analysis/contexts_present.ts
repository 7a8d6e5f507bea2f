import type { Facts, Table } from "../events/view.ts";
import { tableOf } from "./figures_table.ts";
import type { OperatorsResult } from "./operators_schema.ts";
import { sumsTable } from "./sums_table.ts";

const MAX_CONTEXTS = 20;
/** Operators of one context among several. */
const MAX_OF_CONTEXT = 10;

/** How many guesses were right; nothing where nobody guessed. */
export function guessFacts({ guessed, kept }: OperatorsResult["tokens"]): Facts["facts"] {
  if (guessed === 0) return [];
  return [{ name: "  guessed right", value: kept, unit: "count", note: `of ${guessed} that were tried, ${(100 * kept / guessed).toFixed(0)} %` }];
}

type Row = OperatorsResult["contexts"][number];

function contextName({ pid, address, guesses }: Row, processes: number): string {
  return `${processes > 1 ? `${pid} ` : ""}${address}${guesses ? " (guesses for another)" : ""}`;
}

/** An engine has a second one for the model that guesses, or for texts to embed. */
export function presentContexts({ contexts, processes }: OperatorsResult): Table {
  const isGuessed = contexts.some(({ guessed }) => guessed > 0);
  return tableOf("Contexts", contexts, [
    [{ title: "context", unit: "text" }, (row) => contextName(row, processes)],
    [{ title: "prompt", unit: "count" }, (row) => row.prefill],
    [{ title: "generated", unit: "count" }, (row) => row.decode],
    isGuessed && [{ title: "guessed", unit: "count" }, (row) => row.guessed],
    isGuessed && [{ title: "kept", unit: "count" }, (row) => row.kept],
    [{ title: "calls", unit: "count" }, (row) => row.prefillCalls + row.decodeCalls],
    [{ title: "llama_decode", unit: "ns" }, (row) => row.prefillNs + row.decodeNs],
  ], MAX_CONTEXTS);
}

/** What each of several computes. */
export function presentOperatorsOfContexts({ contexts, processes }: OperatorsResult): Table[] {
  return contexts.filter(({ operators }) => operators.length > 0).map((context) => {
    const title = `Operators of context ${contextName(context, processes)}`;
    return sumsTable(title, context.operators, [{ title: "operator", unit: "text" }, (row) => row.name], MAX_OF_CONTEXT);
  });
}
