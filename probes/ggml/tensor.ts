import type { Value } from "../../lib/events/event.ts";
import type { GraphNode, GraphSource, Link } from "../../lib/events/span.ts";
import { type Demand, demandOf, type Operand } from "./demand.ts";
import { knownNumber, numberOf } from "./types.ts";

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
  /** Of one without a name of its own: which tensor it is a part of. */
  readonly part: string | undefined;
  /** Of which layers, where a model has several rows of them: `enc`, as the weights of `enc.blk.3` are called; empty where they are called `blk.3`. */
  stack: string | undefined;
  /** What computing it asks of the machine. */
  readonly demand: Demand;
  /** Of a product of experts: how many there are to choose from. */
  readonly experts: number | undefined;
  /** Of attention over the cache of keys and values: how many of its cells are looked at. */
  readonly cells: number | undefined;
  /** Nodes that are computed behind it and that nobody sees begin: its slice lasts until the next one does, so their time is in it. */
  next: Fused | null;
  /** What its slices are called: its operator, and those of `next`. */
  label: string;
  /** What its slices say, by worker: they repeat for every token, so it is made once and is one object each. */
  readonly links: (Link | undefined)[];
}

/** Nodes that ggml computes in one go. */
export interface Fused {
  /** `RMS_NORM + MUL`. */
  readonly ops: string;
  /** The last of them. */
  readonly name: string;
  readonly address: number;
}

/** The operator of what nobody computes: a weight, an input, the cache of keys and values. */
const NONE = 0;

/** What a tensor is computed from: another one, or a weight, an input, a view. */
export interface Source extends Operand, GraphSource {
  readonly root: number;
  /** Operators of the node whose memory it is, and of what that is computed from first; null where nobody computes it. */
  readonly op: string | null;
  readonly behindOp: string | null;
}

/** More than a tensor has (ggml's GGML_MAX_SRC is 10): which one a `source` is, is told in one number with its address, which leaves room for both. */
export const SOURCES = 16;

/** From the fields of a `source` record. */
export function sourceOf(values: readonly Value[], opNames: readonly string[]): Source {
  const [index, root, behind, further, rootOp, behindOp, type, ...rest] = values as number[];
  const ne = rest.slice(0, 4);
  // Zeros are what bpftrace makes of memory that it could not read; what cannot be is not reckoned with.
  return {
    address: Math.floor(index! / SOURCES),
    root: root!,
    behind: [behind!, further!],
    type: knownNumber(type!),
    ne: ne.map((n) => n > 0 && n < MOST_ELEMENTS ? n : NaN),
    cold: rootOp === NONE,
    op: nameOf(rootOp!, opNames),
    behindOp: nameOf(behindOp!, opNames),
    name: values.at(-1) as string,
  };
}

function nameOf(op: number, opNames: readonly string[]): string | null {
  return op === NONE ? null : opNames[op] ?? `op ${op}`;
}

/**
 * What is computed before the tensor, and behind the one at `last`, and is seen by nobody: two nodes in one, whose first is computed from what was seen.
 * `isSeen`: what an address stands for (computed by that operator, where one is told) has been seen to begin.
 */
export function fusedBetween(last: number, { sources }: Tensor, isSeen: (address: number, op?: string) => boolean): Fused | null {
  for (const [place, source] of (sources as readonly (Source | undefined)[]).entries()) {
    if (!source?.op || !source.behindOp || isSeen(source.root, source.op)) continue;
    const [behind, further] = source.behind as [number, number];
    if (isSeen(behind, source.behindOp) || !isSeen(further)) continue;
    // A graph is computed source by source: what comes before a later one came before that, in a slice that is not known here.
    const isEarlier = sources.slice(place + 1).some((later) => later?.root === last);
    return isEarlier ? null : { ops: `${source.behindOp} + ${source.op}`, name: source.name, address: source.root };
  }
  return null;
}

/** The slices of the tensor have these in them from now on. */
export function followedBy(tensor: Tensor, next: Fused | null): void {
  if (tensor.next?.address === next?.address && tensor.next?.ops === next?.ops) return;
  tensor.next = next;
  tensor.label = next ? `${tensor.op} + ${next.ops}` : tensor.op;
  tensor.links.length = 0;
}

/**
 * Types of ggml have numbers below this (ik_llama.cpp's go beyond 128), and will for long; so have operators where the library does not tell how many
 * there are.
 */
const MOST_TYPES = 1024, MOST_OPERATORS = 512;
/** Elements in a dimension: more has no memory. */
const MOST_ELEMENTS = 2 ** 48;
/** More experts than there are anywhere. */
export const MOST_EXPERTS = 65_536;

/**
 * Whether the fields of a `tensor` record can be those of a tensor that ggml computes: such a one has an operator other than NONE (ggml skips the others),
 * elements (until December 2024 it may be rows of none, in a batch that wants no logits), and a name that a person can read. `unread`: the engine's
 * memory could not be read, of which bpftrace makes zeros. `strange`: this build of ggml has its fields elsewhere, and what stands in their place means
 * something else.
 */
export function judge(values: readonly Value[], operators: number): "tensor" | "unread" | "strange" {
  const [, op, type, ne0, ne1, ne2, ne3, name] = values as [number, number, number, number, number, number, number, string];
  const dimensions = [ne0, ne1, ne2, ne3];
  if (op === 0 && name === "" && dimensions.every((ne) => ne === 0)) return "unread";
  const isType = type >= 0 && numberOf(type) < MOST_TYPES;
  return op > 0 && isNode(op, name, operators) && isType && ne0 > 0 && dimensions.every((ne) => ne >= 0 && ne < MOST_ELEMENTS) ? "tensor" : "strange";
}

/** Whether these can be what a tensor says of itself, where the library tells of so many operators (0: of none). */
export function isNode(op: number, name: string, operators: number): boolean {
  return op >= 0 && op < (operators || MOST_OPERATORS) && !/\p{Cc}/u.test(name);
}

/**
 * Operators whose result shows the memory of another tensor, and that write nothing: those of 2024 are called as all others are. What a view of such a one
 * shows is that memory's own tensor.
 */
const VIEWS: ReadonlySet<string | undefined> = new Set(["RESHAPE", "VIEW", "PERMUTE", "TRANSPOSE"]);

/** Whether the fields of a `source` record can be those of a source: otherwise what a view shows is not where it was looked for. */
export function isSource(values: readonly Value[], opNames: readonly string[]): boolean {
  const rootOp = values[4] as number;
  return isNode(rootOp, "", opNames.length) && !VIEWS.has(opNames[rootOp]);
}

/** In which dimension a product has as many vectors as were given to it. */
const VECTORS: Readonly<Record<string, number>> = { MUL_MAT: 1, MUL_MAT_ID: 2 };

/**
 * Whether the tensor of a `tensor` record can be computed from these sources: those of a product must have its sizes. Undefined where not all of that can be
 * said: of no product, and of one of whose sources one was lost, or could not be read, and what is left speaks against nothing.
 */
export function fits(values: readonly Value[], [matrix, vectors]: readonly (Source | undefined)[], opNames: readonly string[]): boolean | undefined {
  const ne = values.slice(3, 7) as number[];
  const dimension = VECTORS[opNames[values[1] as number] ?? ""];
  if (dimension === undefined) return undefined;
  const sizes = [[matrix?.ne[1], ne[0]], [vectors?.ne[dimension], ne[dimension]], [matrix?.ne[0], vectors?.ne[0]]] as const;
  const known = sizes.filter(([one, other]) => one! > 0 && other! > 0);
  if (known.some(([one, other]) => one !== other)) return false;
  return known.length === sizes.length || undefined;
}

/**
 * From the fields of a `tensor` record and of the `source` records before it. `before`: what stood at the address; where that was the same operator of
 * another shape, what is fused beside it is taken to be the same until it is looked at.
 */
export function describe(
  values: readonly Value[],
  sources: readonly (Source | undefined)[],
  opNames: readonly string[],
  before?: Tensor,
  into?: number,
): Tensor {
  const [address, number, type, ne0, ne1, ne2, ne3, name] = values as [number, number, number, number, number, number, number, string];
  const op = nameOf(number, opNames)!;
  const ne = [ne0, ne1, ne2, ne3];
  const part = op === "ADD" && /^node_\d+$/.test(name) ? sumOf(sources) : undefined;
  const experts = op === "MUL_MAT_ID" ? sources[0]?.ne[2] : undefined;
  const known = before?.op === op && before.name === name ? before : { next: null, label: op };
  return {
    address,
    op,
    name,
    sources,
    into: VIEWS.has(op) ? undefined : into ?? namedInto(op, sources),
    shape: shapeOf(ne),
    layer: layerOf(part ?? name),
    part,
    stack: undefined,
    demand: demandOf(op, { type: knownNumber(type), ne }, sources),
    experts: experts! <= MOST_EXPERTS ? experts : undefined,
    cells: cellsOf(op, sources),
    next: known.next,
    label: known.label,
    links: [],
  };
}

/** In which place operators name what they write into, such as a cache of keys and values. (CLAMP did so in most versions that such recordings are of.) */
const NAMED: Readonly<Record<string, number>> = { CPY: 1, SET_ROWS: 2, CLAMP: 0 };

/** Whose memory the tensor has by what it names: in a recording from before that was told, and where its sources are. */
function namedInto(op: string, sources: readonly (Source | undefined)[]): number | undefined {
  const named = sources[NAMED[op] ?? -1];
  return named?.address === 0 ? named.root : undefined;
}

/**
 * Gives the tensor its stack, which its own name does not tell: a weight's does, or else it is that of what it is computed from. What comes before the
 * first weight of a layer (a norm) gets it from what is computed from that, before its slice ends.
 */
export function placeInStack(tensor: Tensor, find: (address: number) => Tensor | undefined): void {
  const computed = tensor.sources.flatMap((source) => !source || source.cold ? [] : find(source.root) ?? []);
  const weight = tensor.sources.map((source) => /^(?:(\w+)\.)?blk\.\d+\./.exec(source?.name ?? "")).find((found) => found);
  tensor.stack = weight ? weight[1] ?? "" : computed.find(({ stack }) => stack !== undefined)?.stack;
  if (tensor.stack === undefined) return;
  for (const before of computed) {
    if (before.stack !== undefined || before.layer !== tensor.layer) continue;
    before.stack = tensor.stack;
    before.links.length = 0;
  }
}

/** What the experts of a layer say is added up one by one, and llama.cpp names none of the sums but the last. */
function sumOf(sources: readonly (Source | undefined)[]): string | undefined {
  const layers = sources.map((source) => /^ffn_moe_(?:weighted|down\w*)-(\d+) \(view\)$/.exec(source?.name ?? "")?.[1]);
  const layer = layers.find((layer) => layer !== undefined);
  return layer && `ffn_moe_out-${layer}`;
}

/** In which place attention finds its keys: as a part of a product, or as a whole. */
const KEYS: Readonly<Record<string, number>> = { MUL_MAT: 0, FLASH_ATTN_EXT: 1 };

/** llama.cpp looks at a view of the cache's keys, of so many numbers × cells × heads × streams. */
function cellsOf(op: string, sources: readonly (Source | undefined)[]): number | undefined {
  const keys = op in KEYS ? sources[KEYS[op]!] : undefined;
  return keys?.name.startsWith("cache_k_") ? keys.ne[1]! * keys.ne[3]! || undefined : undefined;
}

function shapeOf(ne: readonly number[]): string {
  return ne.slice(0, Math.max(2, 1 + ne.findLastIndex((n) => n !== 1))).join("×");
}

/** What the slice of a worker that computes the tensor says. */
export function linkOf(tensor: Tensor, worker: number): Link {
  return tensor.links[worker] ??= madeLink(tensor, worker);
}

function madeLink(tensor: Tensor, worker: number): Link {
  const { name, next, shape, layer, part, stack, cells, demand: { bytes, cold, coldAll, flops, quantised, bf16, atMost } } = tensor;
  const args = {
    tensor: name,
    shape,
    ...(layer !== undefined && { layer }),
    ...(part !== undefined && { part }),
    ...(layer !== undefined && stack && { stack }),
    worker,
    ...(next && { fused: next.name }),
    ...(cells !== undefined && { cells }),
    ...(bytes !== undefined && { bytes }),
    ...(cold && { cold }),
    ...(coldAll !== cold && { coldAll }),
    ...(flops !== undefined && { flops }),
    ...(flops !== undefined && quantised && { quantised }),
    ...(flops !== undefined && bf16 && { bf16 }),
    ...(atMost && { atMost }),
  };
  return { name: tensor.label, args, node: worker === 0 ? tensor : undefined };
}

/** llama.cpp appends the layer: `ffn_gate-3`, `Kcur-3 (reshaped)`, and in views of its cache `cache_k_l3 (view)`. */
export function layerOf(name: string): number | undefined {
  const found = /-(\d+)(?=$| )|^cache_\w+_l(\d+)\b/.exec(name);
  return found ? Number(found[1] ?? found[2]) : undefined;
}
