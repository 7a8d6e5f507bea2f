import type { Args, OperatorSum, Slice } from "../events/span.ts";
import type { ColdBytes } from "./bound.ts";
import type { OperatorsResult, OperatorSumsResult } from "./operators_schema.ts";
import { type CallDemand, demandOf, type Measures, OperatorSums, type Phase } from "./operator_sums.ts";
import { tensorKind } from "./tensor_kind.ts";

/** An operator's slice tells by these what it computed. */
export type Call = Pick<Slice, "name" | "args">;

/** A node of a graph, by its names: the same in every graph that has it. */
interface Named {
  readonly operator: string;
  /** `3`, or `enc 3` of several stacks of layers. */
  readonly layer: string | null;
  /** Which kind of tensor. */
  readonly tensor: string;
  readonly sums: OperatorSums;
}

type Layer = Pick<OperatorsResult["layers"][number], "layer" | "stack">;

/** What the calls of a node add to, and what one of them asks of the machine. */
interface Node {
  readonly sums: OperatorSums;
  readonly demand: CallDemand;
}

/** An engine that names every tensor anew must not fill the memory: sums of so many nodes are added to their rows, and begin afresh. */
const MAX_NAMES = 8192;

/** Sums by operator, by layer and by kind of tensor. A call is added once, to its node; rows get the sums of their nodes when somebody asks. */
export class OperatorTable {
  readonly #operators = new Map<string, OperatorSums>();
  readonly #layers = new Map<string | null, OperatorSums>();
  readonly #tensors = new Map<string, OperatorSums>();
  /** Operator → tensor. */
  #nodes = new Map<string, Map<string, Named>>();
  #names = 0;
  /** The arguments of an operator's slices are one object for each tensor and worker: a look-up instead of two, and none by letters. */
  #byArgs = new WeakMap<Args, { readonly name: string; readonly node: Node }>();

  /** Cells of the cache of keys and values that attention looked at: the most of any call; null where none was seen. */
  mostCells: number | null = null;

  constructor(readonly maxNames = MAX_NAMES) {}

  /** A call on worker 0. `ns`: NaN where its end was not seen. */
  add(call: Call, phase: Phase, ns: number, waitNs: number): void {
    const { sums, demand } = this.#node(call);
    sums.add(phase, ns, waitNs, demand);
  }

  /** Calls on worker 0 that somebody else has added up. */
  addSum(call: Call, phase: Phase, sum: OperatorSum): void {
    const { sums, demand } = this.#node(call);
    sums.addSum(phase, sum, demand);
  }

  /** The same call on another worker. */
  addOther(call: Call, ns: number, waitNs: number): void {
    this.#node(call).sums.addOther(ns, waitNs);
  }

  #node(call: Call): Node {
    const { name, args } = call;
    const known = args && this.#byArgs.get(args);
    if (known && known.name === name) return known.node;
    if (this.#names >= this.maxNames) this.#settle();
    // A tensor of one name has other sizes in another graph: these belong to the arguments.
    const node = { sums: this.#named(call).sums, demand: demandOf(args) };
    if (typeof args?.cells === "number") this.mostCells = Math.max(this.mostCells ?? 0, args.cells);
    if (args) this.#byArgs.set(args, { name, node });
    return node;
  }

  #named({ name: operator, args }: Call): Named {
    const name = String(args?.part ?? args?.tensor ?? ""), stack = args?.stack === undefined ? "" : `${args.stack} `;
    let ofOperator = this.#nodes.get(operator);
    if (!ofOperator) this.#nodes.set(operator, ofOperator = new Map());
    let named = ofOperator.get(stack + name);
    if (!named) {
      const layer = typeof args?.layer === "number" ? `${stack}${args.layer}` : null;
      ofOperator.set(stack + name, named = { operator, layer, tensor: tensorKind(name) || "(unnamed)", sums: new OperatorSums() });
      this.#names++;
    }
    return named;
  }

  /** Time inside a graph that no operator accounts for; a row of its own in each grouping, so that each sums to the graphs' time. */
  addTime(row: "graph start" | "graph rest", phase: Phase, ns: number): void {
    if (ns === 0) return;
    for (const sums of this.#rows(row, null, row)) sums.addTime(phase, ns);
  }

  /** Time of all rows together. */
  get ns(): number {
    this.#settle();
    return this.#operators.values().reduce((sum, sums) => sum + sums.ns, 0);
  }

  /** Everything of another table, too. */
  absorb(other: OperatorTable): void {
    other.#settle();
    absorbRows(this.#operators, other.#operators);
    absorbRows(this.#layers, other.#layers);
    absorbRows(this.#tensors, other.#tensors);
    if (other.mostCells !== null) this.mostCells = Math.max(this.mostCells ?? 0, other.mostCells);
  }

  /** Of all calls, or of those of a phase. */
  coldBytes(phases?: readonly Phase[]): ColdBytes {
    this.#settle();
    const rows = this.#operators.values().map((sums) => sums.coldBytes(phases));
    return rows.reduce((sum, row) => ({ bytes: sum.bytes + row.bytes, withAll: sum.withAll + row.withAll, isAll: sum.isAll && row.isAll }), {
      bytes: 0,
      withAll: 0,
      isAll: true,
    });
  }

  result(measures: Measures): Pick<OperatorsResult, "operators" | "layers" | "tensors"> {
    this.#settle();
    const named = (rows: ReadonlyMap<string, OperatorSums>) => byTime(filled(rows).map(([name, sums]) => ({ name, ...sums.result(measures) })));
    const layers = filled(this.#layers).map(([name, sums]) => ({ ...layerNamed(name), ...sums.result(measures) }));
    return { operators: named(this.#operators), layers: inOrder(layers), tensors: named(this.#tensors) };
  }

  #rows(operator: string, layer: string | null, tensor: string): OperatorSums[] {
    return [row(this.#operators, operator), row(this.#layers, layer), row(this.#tensors, tensor)];
  }

  #settle(): void {
    for (const ofOperator of this.#nodes.values()) {
      for (const { operator, layer, tensor, sums } of ofOperator.values()) for (const row of this.#rows(operator, layer, tensor)) row.merge(sums);
    }
    this.#nodes = new Map();
    this.#names = 0;
    this.#byArgs = new WeakMap();
  }
}

function row<Key>(rows: Map<Key, OperatorSums>, key: Key): OperatorSums {
  let sums = rows.get(key);
  if (!sums) rows.set(key, sums = new OperatorSums());
  return sums;
}

function absorbRows<Key>(rows: Map<Key, OperatorSums>, others: ReadonlyMap<Key, OperatorSums>): void {
  for (const [key, sums] of others) row(rows, key).merge(sums);
}

function filled<Key>(rows: ReadonlyMap<Key, OperatorSums>): [Key, OperatorSums][] {
  return [...rows].filter(([, sums]) => !sums.isEmpty);
}

function layerNamed(name: string | null): Layer {
  const words = name?.split(" ");
  return words ? { layer: Number(words.at(-1)), stack: words.length > 1 ? words[0]! : null } : { layer: null, stack: null };
}

/** One stack behind the other, as they were seen first; behind them what is called by its layer alone, or by none. */
function inOrder<Row extends Layer>(rows: readonly Row[]): Row[] {
  const stacks = rows.map(({ stack }) => stack).filter((stack) => stack !== null);
  const place = ({ stack }: Row) => stack === null ? stacks.length : stacks.indexOf(stack);
  return rows.toSorted((a, b) => place(a) - place(b) || (a.layer ?? Infinity) - (b.layer ?? Infinity));
}

function byTime<Row extends OperatorSumsResult & { name: string }>(rows: Row[]): Row[] {
  return rows.sort((a, b) => b.totalNs - a.totalNs || b.calls - a.calls || (a.name < b.name ? -1 : 1));
}
