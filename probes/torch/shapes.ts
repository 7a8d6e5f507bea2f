import { withEveryOperator } from "../../lib/programs/detail.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { asking } from "../../lib/programs/silent.ts";
import { libtorch, operatorOf } from "./library.ts";

/** Which of an operator's arguments are looked at: those that a processor's convention hands over in registers everywhere. */
export const PLACES = 4;

/** Asks for the shapes of the tensors that operators are given; ops.bt reads them where a program has this. */
export const shapes = asking({
  name: "torch/shapes",
  summary: "PyTorch: shapes of the tensors that operators are given",
  library: libtorch,
  details: withEveryOperator,
  asked: "shapes",
});

/** Offsets at which versions of PyTorch keep how many dimensions a tensor has: 1.13, 2.x, and one for what may come. */
const CANDIDATES = [72, 64, 56, 80] as const;
/** Behind that: five sizes, five strides, an offset into the storage, and how many elements there are. */
const INLINE = 5, STRIDES = 8 + 8 * INLINE, ELEMENTS = STRIDES + 8 * INLINE + 8;
const DIMENSIONS = 4;

/**
 * `FIND_SIZES($a)`: looks for the offset with a tensor behind the reference `$a`, and keeps it when it fits: a few dimensions, as many elements as their
 * sizes make, neighbours in the last one. Nothing is read of a version that none of them fits.
 */
function find(reference: string): string {
  const last = `*(uint64 *)($t0 + $s + ${STRIDES - 8} + 8 * $n0)`;
  const tests = CANDIDATES.map((at) =>
    `if (@torch_sizes == 0) { $s = (uint64)${at}; ${
      read(0)
    } if ($n0 > 0 && $n0 <= ${DIMENSIONS} && $e0 > 1 && $p0 == $e0) { if (${last} == 1) { @torch_sizes = $s; } } }`
  );
  return `${declare(0)} $s = (uint64)0; $a0 = ${reference}; if (${isAddress("$a0", 8)}) { $t0 = *(uint64 *)$a0; } if (${isAddress("$t0", 16)}) { ${
    tests.join(" ")
  } }`;
}

/** Where a process keeps what it allocates: a read of what is no address at all is a fault, which costs as much as all others together. */
const isAddress = (name: string, alignment: number) => `${name} > 65535 && ${name} < 140737488355328 && ${name} % ${alignment} == 0`;

/** Statements that read a tensor's dimensions `$n`, sizes `$d…`, their product `$p` and its elements `$e`, by its address `$t`; what is none has 15 dimensions. */
function read(place: number): string {
  const sizes = Array.from({ length: DIMENSIONS }, (_, i) => `$d${place}${i}`);
  return [
    `$n${place} = *(uint64 *)($t${place} + $s);`,
    `if ($n${place} <= ${DIMENSIONS}) {`,
    `$e${place} = *(uint64 *)($t${place} + $s + ${ELEMENTS});`,
    ...sizes.map((size, i) => `if ($n${place} > ${i}) { ${size} = *(uint64 *)($t${place} + $s + ${8 + 8 * i}); }`),
    `$p${place} = ${sizes.join(" * ")};`,
    "}",
  ].join(" ");
}

/** All that {@link read} sets, because a variable is known outside of a condition only where it was before. */
function declare(place: number): string {
  const sizes = Array.from({ length: DIMENSIONS }, (_, i) => `$d${place}${i} = (uint64)1;`);
  return `$t${place} = (uint64)0; $n${place} = (uint64)15; $e${place} = (uint64)0; $p${place} = (uint64)1; ${sizes.join(" ")}`;
}

/** Of two sizes in one number: what the larger is below, and what is added where that is the second. */
const LARGER = 2 ** 32, TURNED = 2 ** 52;
/** A tensor has fewer elements: so of two sizes the smaller is below 2^20, and both are below 2^53 together, which no reader rounds. */
const MOST_ELEMENTS = 2 ** 40;

/** Sizes of a place in two numbers, and its dimensions and 1, or 0 for what is no tensor of few dimensions. */
function pack(place: number): string {
  const sizes = Array.from({ length: DIMENSIONS }, (_, i) => `$d${place}${i}`);
  const [a, b, c, d] = sizes as [string, string, string, string];
  const pair = (name: string, first: string, second: string) =>
    `${name} = ${first} + ${second} * ${LARGER}; if (${second} > ${first}) { ${name} = ${second} + ${first} * ${LARGER} + ${TURNED}; }`;
  return [
    `$r${place} = (uint64)0; $x${place} = (uint64)0; $y${place} = (uint64)0; ${declare(place)}`,
    `if (${isAddress(`$a${place}`, 8)}) { $t${place} = *(uint64 *)$a${place}; }`,
    `if (${isAddress(`$t${place}`, 16)}) { ${read(place)} }`,
    `if ($n${place} <= ${DIMENSIONS} && $p${place} == $e${place} && $e${place} < ${MOST_ELEMENTS} && (${sizes.join(" | ")}) < ${LARGER}) {`,
    `$r${place} = $n${place} + 1; ${pair(`$x${place}`, a, b)} ${pair(`$y${place}`, c, d)} }`,
  ].join(" ");
}

/** A number for all that was read: equal shapes have the same. Below 2^40, which is exact everywhere. */
function hash(): string {
  const parts = Array.from({ length: PLACES }, (_, i) => [`$r${i}`, `$x${i}`, `$y${i}`]).flat();
  const steps = parts.map((part) => `$h = ($h + ${part}) * 6364136223846793005 + 1442695040888963407; $h = $h ^ ($h >> 29);`);
  return `$h = (uint64)0; ${steps.join(" ")} $h = $h & 1099511627775;`;
}

/** Fills in what a template says of shapes: `FIND_SIZES(…)`, `READ_SHAPES`. */
export function reading(template: string): string {
  const places = Array.from({ length: PLACES }, (_, i) => i);
  return template
    .replace(/FIND_SIZES\((\S+)\)/g, (_, reference: string) => find(reference))
    .replace("READ_SHAPES", `${places.map(pack).join("\n")}\n${hash()}`);
}

/** What `shape` tells of one place. */
const AT_PLACE = 2;

export const shapeFields: Probe["records"][string] = [
  { name: "id", type: "int" },
  /** 16 for each place, the first lowest: dimensions and 1. */
  { name: "ranks", type: "int" },
  ...Array.from({ length: PLACES }, (_, i) => [{ name: `a${i}`, type: "int" }, { name: `b${i}`, type: "int" }] as const).flat(),
];

/** Of each place: `1×16×64`, `[]` without dimensions, undefined for what is no tensor. */
export function placesOf([, ranks, ...sizes]: readonly number[]): (string | undefined)[] {
  return Array.from({ length: PLACES }, (_, place) => {
    const rank = Math.floor(ranks! / 16 ** place) % 16;
    if (rank === 0) return undefined;
    const all = sizes.slice(AT_PLACE * place, AT_PLACE * (place + 1)).flatMap((pair) => {
      const both = pair % TURNED;
      const two = [both % LARGER, Math.floor(both / LARGER)];
      return pair < TURNED ? two : two.reverse();
    });
    return all.slice(0, rank - 1).join("×") || "[]";
  });
}

/** Operators that return a number or nothing: nearly all others return a tensor, at a place that the caller names before all arguments. */
const RETURNS_NUMBER = new RegExp(`^(${
  [
    "is_|_is_zerotensor|_has_|_debug_has_|cudnn_is_|_use_cudnn_ctc_loss|equal$|allclose$|_nested_tensor_from_mask_left_aligned|retains_grad",
    "size_int|size_Dimname|stride_int|stride_Dimname|dense_dim|sparse_dim|_dim[IV]$|_nnz|output_nr|_version$|result_type|_nested_get_ragged_idx",
    "q_scale|q_zero_point|qscheme|q_per_channel_axis|_cum(max|min)_helper$|_backward$|_assert_|_validate_|_linalg_check_errors|_propagate_xla_data$",
  ].join("|")
})`);
/** Operators that return what they were given to change: `resize_`, `resize__overload`; `__and___Scalar` returns another. */
const RETURNS_GIVEN = /^(?!__).*_(_[A-Za-z]\w*)?$/;
/** Where they end in one tensor, or one list of them, to write into, these return it, or nothing; of several a tuple is made. */
const WRITES_ONE = /_out$/, WRITES_SEVERAL = /RS2_(S\w_)+$/;

/**
 * Which places hold the tensors that come first among an operator's arguments, by the mangled name of its `call`: `ERKNS_6TensorES4_…` are two that it reads,
 * `ERNS_6TensorERKS2_S5_…` one that it changes and two that it reads. One that changes its first argument, or only its last, returns a reference.
 */
export function tensorPlaces(symbol: string): { readonly from: number; readonly to: number } {
  const name = operatorOf(symbol) ?? "";
  const signature = symbol.slice(symbol.indexOf(`${name.length}${name}4callE`) + `${name.length}${name}4callE`.length);
  const reads = /^RKNS_6TensorE((?:S4_)*)/.exec(signature);
  const changes = /^RNS_6TensorE((?:RKS2_(?:S5_)*)?)/.exec(signature);
  const further = reads ? reads[1]!.length / 3 : changes ? changes[1]!.match(/RKS2_|S5_/g)?.length ?? 0 : -1;
  const writesOne = signature.endsWith("RS2_") || (WRITES_ONE.test(name) && !WRITES_SEVERAL.test(signature));
  const from = changes || writesOne || RETURNS_GIVEN.test(name) || RETURNS_NUMBER.test(name) ? 0 : 1;
  return { from, to: Math.min(PLACES, from + further + 1) };
}
