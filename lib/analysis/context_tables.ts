import type { DecodeContext } from "./decode_context.ts";
import type { Measures } from "./operator_sums.ts";
import { OperatorTable } from "./operator_table.ts";
import type { OperatorsResult } from "./operators_schema.ts";

/** An engine that makes a context for each request must not fill the memory. */
const MOST = 8;

/** Operators of each `llama_context`, and of what belongs to none. */
export class ContextTables {
  readonly #tables = new Map<DecodeContext, OperatorTable>();
  /** What belongs to no context, or to one of too many; and what workers besides 0 did, which know no context. */
  readonly rest = new OperatorTable();

  of(context: DecodeContext): OperatorTable {
    const known = this.#tables.get(context);
    if (known) return known;
    if (this.#tables.size === MOST) return this.rest;
    const table = new OperatorTable();
    this.#tables.set(context, table);
    return table;
  }

  /** Of all together. */
  all(): OperatorTable {
    const all = new OperatorTable();
    for (const table of [this.rest, ...this.#tables.values()]) all.absorb(table);
    return all;
  }

  /** Worker 0's of one; shares are of its own. None where it has no table. */
  operatorsOf(context: DecodeContext, measures: Measures): OperatorsResult["operators"] {
    const table = this.#tables.get(context);
    return table ? table.result({ ...measures, graphNs: table.ns }).operators : [];
  }
}
