import type { Value } from "../../lib/events/event.ts";
import type { Args, GraphNode, GraphSource } from "../../lib/events/span.ts";
import { type Demand, demandOf, type Operand } from "./demand.ts";

/** What an operator's slice says of the tensor that it computes. */
export interface Tensor extends GraphNode {
  /** `MUL_MAT`; `op 29` where the library's table of names could not be read. */
  readonly op: string;
  /** `ffn_gate-3`: ggml's own name. */
  readonly name: string;
  /** Elements by dimension, as ggml counts them: `1024×1`. Dimensions of 1 at the end are left out, the second stays. */
  readonly shape: string;
  /** Transformer layer, where the name carries one. */
  readonly layer: number | undefined;
  /** What computing it asks of the machine. */
  readonly demand: Demand;
  /** Of a product of experts: how many there are to choose from. */
  readonly experts: number | undefined;
  /** Arguments of its slices, by worker: they repeat for every token, so they are made once and are one object each. */
  readonly args: (Args | undefined)[];
}

/** The operator of what nobody computes: a weight, an input, the cache of keys and values. */
const NONE = 0;

/** What a tensor is computed from: another one, or a weight, an input, a view. */
export interface Source extends Operand, GraphSource {}

/** From the fields of a `source` record. */
export function sourceOf(values: readonly Value[]): Source {
  const [, root, behind, further, rootOp, type, ...rest] = values as number[];
  const ne = rest.slice(0, 4);
  // Zeros are what bpftrace makes of memory that it could not read; what cannot be is not reckoned with.
  return {
    root: root!,
    behind: [behind!, further!],
    type: type!,
    ne: ne.map((n) => n > 0 && n < MOST_ELEMENTS ? n : NaN),
    cold: rootOp === NONE,
    name: values.at(-1) as string,
  };
}

/** Types of ggml have numbers below this, and will for long; so have operators where the library does not tell how many there are. */
const MOST_TYPES = 128, MOST_OPERATORS = 512;
/** Elements in a dimension: more has no memory. */
const MOST_ELEMENTS = 2 ** 48;

/**
 * Whether the fields of a `tensor` record can be those of a tensor that ggml computes: such a one has an operator other than NONE and no empty dimension
 * (ggml skips the others), and a name that a person can read. `unread`: the engine's memory could not be read, of which bpftrace makes zeros. `strange`:
 * this build of ggml has its fields elsewhere, and what stands in their place means something else.
 */
export function judge(values: readonly Value[], operators: number): "tensor" | "unread" | "strange" {
  const [, op, type, ne0, ne1, ne2, ne3, name] = values as [number, number, number, number, number, number, number, string];
  const dimensions = [ne0, ne1, ne2, ne3];
  if (op === 0 && name === "" && dimensions.every((ne) => ne === 0)) return "unread";
  const isOperator = op > 0 && op < (operators || MOST_OPERATORS);
  const isType = type >= 0 && type < MOST_TYPES;
  return isOperator && isType && dimensions.every((ne) => ne > 0 && ne < MOST_ELEMENTS) && !/\p{Cc}/u.test(name) ? "tensor" : "strange";
}

/** From the fields of a `tensor` record and of the `source` records before it. */
export function describe(values: readonly Value[], sources: readonly (Source | undefined)[], opNames: readonly string[]): Tensor {
  const [address, number, type, ne0, ne1, ne2, ne3, name] = values as [number, number, number, number, number, number, number, string];
  const op = opNames[number] ?? `op ${number}`;
  const ne = [ne0, ne1, ne2, ne3];
  const experts = op === "MUL_MAT_ID" ? sources[0]?.ne[2] || undefined : undefined;
  return { address, op, name, sources, shape: shapeOf(ne), layer: layerOf(name), demand: demandOf(op, { type, ne }, sources), experts, args: [] };
}

function shapeOf(ne: readonly number[]): string {
  return ne.slice(0, Math.max(2, 1 + ne.findLastIndex((n) => n !== 1))).join("×");
}

/** What the slice of a worker that computes the tensor carries. */
export function argsOf({ args, name, shape, layer, demand: { bytes, cold, flops, quantised, atMost } }: Tensor, worker: number): Args {
  return args[worker] ??= {
    tensor: name,
    shape,
    ...(layer !== undefined && { layer }),
    worker,
    ...(bytes !== undefined && { bytes }),
    ...(cold && { cold }),
    ...(flops !== undefined && { flops }),
    ...(flops !== undefined && quantised && { quantised }),
    ...(atMost && { atMost }),
  };
}

/** llama.cpp appends the layer: `ffn_gate-3`, `Kcur-3 (reshaped)`, and in views of its cache `cache_k_l3 (view)`. */
function layerOf(name: string): number | undefined {
  const found = /-(\d+)(?=$| )|^cache_\w+_l(\d+)\b/.exec(name);
  return found ? Number(found[1] ?? found[2]) : undefined;
}
