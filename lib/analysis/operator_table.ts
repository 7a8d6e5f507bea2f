import type { Args, Slice } from "../events/span.ts";
import type { OperatorsResult, OperatorSumsResult } from "./operators_schema.ts";
import { type CallDemand, type Measures, OperatorSums, type Phase } from "./operator_sums.ts";
import { tensorKind } from "./tensor_kind.ts";

interface Rows {
  readonly operator: OperatorSums;
  readonly layer: OperatorSums;
  readonly tensor: OperatorSums;
}

/** The rows that one node of a graph adds to, and what a call of it asks of the machine. */
export interface Node extends Rows {
  readonly demand: CallDemand;
}

/** An engine that names every tensor anew must not fill the memory: beyond this the memory of names starts afresh, the sums stay. */
const MAX_NAMES = 65_536;

/** Sums by operator, by layer and by kind of tensor. */
export class OperatorTable {
  readonly #operators = new Map<string, OperatorSums>();
  readonly #layers = new Map<number | null, OperatorSums>();
  readonly #tensors = new Map<string, OperatorSums>();
  /** Operator → tensor → rows: what is known of a node the second time. */
  #nodes = new Map<string, Map<string, Rows>>();
  #names = 0;
  /** The arguments of an operator's slices are one object for each tensor and worker: a look-up instead of two, and none by letters. */
  readonly #byArgs = new WeakMap<Args, { readonly name: string; readonly node: Node }>();

  node(slice: Slice): Node {
    const { name, args } = slice;
    const known = args && this.#byArgs.get(args);
    if (known && known.name === name) return known.node;
    // A tensor of one name has other sizes in another graph: these belong to the arguments.
    const node = { ...this.#named(slice), demand: demandOf(args) };
    if (args) this.#byArgs.set(args, { name, node });
    return node;
  }

  #named(slice: Slice): Rows {
    const tensor = String(slice.args?.tensor ?? "");
    let ofOperator = this.#nodes.get(slice.name);
    if (!ofOperator) this.#nodes.set(slice.name, ofOperator = new Map());
    let node = ofOperator.get(tensor);
    if (!node) {
      const layer = typeof slice.args?.layer === "number" ? slice.args.layer : null;
      node = this.#rows(slice.name, layer, tensorKind(tensor) || "(unnamed)");
      if (++this.#names > MAX_NAMES) this.#forget();
      else ofOperator.set(tensor, node);
    }
    return node;
  }

  /** Time inside a graph that no operator accounts for; a row of its own in each grouping, so that each sums to the graphs' time. */
  addTime(row: "graph start" | "graph rest", phase: Phase, ns: number): void {
    if (ns === 0) return;
    const { operator, layer, tensor } = this.#rows(row, null, row);
    for (const sums of [operator, layer, tensor]) sums.addTime(phase, ns);
  }

  /** Of all calls, in a graph on average; NaN where that of one is not known. */
  coldBytes(graphs: number): number {
    let sum = 0;
    for (const sums of this.#operators.values()) sum += sums.coldBytes;
    return sum / graphs;
  }

  result(measures: Measures): Pick<OperatorsResult, "operators" | "layers" | "tensors"> {
    const named = (rows: ReadonlyMap<string, OperatorSums>) => byTime(filled(rows).map(([name, sums]) => ({ name, ...sums.result(measures) })));
    const layers = filled(this.#layers).map(([layer, sums]) => ({ layer, ...sums.result(measures) }));
    layers.sort((a, b) => (a.layer ?? Infinity) - (b.layer ?? Infinity));
    return { operators: named(this.#operators), layers, tensors: named(this.#tensors) };
  }

  #rows(operator: string, layer: number | null, tensor: string): Rows {
    return { operator: row(this.#operators, operator), layer: row(this.#layers, layer), tensor: row(this.#tensors, tensor) };
  }

  #forget(): void {
    this.#nodes = new Map();
    this.#names = 0;
  }
}

function demandOf(args: Args | undefined): CallDemand {
  const bytes = Number(args?.bytes ?? NaN), flops = Number(args?.flops ?? NaN);
  // Absent where they are none.
  return {
    bytes,
    coldBytes: bytes === bytes ? Number(args?.cold ?? 0) : NaN,
    flops,
    quantisedFlops: args?.quantised ? flops : 0 * flops,
    atMost: args?.atMost ? 1 : 0,
  };
}

function row<Key>(rows: Map<Key, OperatorSums>, key: Key): OperatorSums {
  let sums = rows.get(key);
  if (!sums) rows.set(key, sums = new OperatorSums());
  return sums;
}

function filled<Key>(rows: ReadonlyMap<Key, OperatorSums>): [Key, OperatorSums][] {
  return [...rows].filter(([, sums]) => !sums.isEmpty);
}

function byTime<Row extends OperatorSumsResult & { name: string }>(rows: Row[]): Row[] {
  return rows.sort((a, b) => b.totalNs - a.totalNs || b.calls - a.calls || (a.name < b.name ? -1 : 1));
}
