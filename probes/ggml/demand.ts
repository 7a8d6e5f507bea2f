import { elementType } from "./types.ts";

/** What reads and writes of a tensor depend on. */
export interface Operand {
  /** `ggml_type`. */
  readonly type: number;
  /** Elements by dimension, always four. */
  readonly ne: readonly number[];
  /** The graph has not computed it: a weight, cells of the cache. A graph that is larger than the caches finds it in memory. */
  readonly cold?: boolean;
  /** Address of the tensor whose memory it shows. */
  readonly root?: number;
}

/**
 * What an operator asks of the machine: bytes that it has to read and write at least once, and floating-point operations (a multiplication and an addition
 * are two; reading a quantised weight is none). Caches may spare some of the bytes, and an implementation may do more than it has to. Undefined: not known.
 */
export interface Demand {
  readonly bytes: number | undefined;
  /** Of these, bytes of cold operands; undefined as `bytes` is. */
  readonly cold: number | undefined;
  /** The same with all experts of a mixture instead of as many as are chosen: the next token may choose others. */
  readonly coldAll: number | undefined;
  readonly flops: number | undefined;
  /** The operations are on quantised weights, which processors multiply as bytes; or on weights of 16 bits (bf16), in pairs. */
  readonly quantised: boolean;
  readonly bf16: boolean;
  /** The most that it can be: a mask that was not read spares the operator some, and of a batch several rows may have chosen the same experts. */
  readonly atMost: boolean;
}

/** Of an operator by its name in ggml, what it computes, and its sources in order (`undefined` where a place is empty or was not seen). */
export function demandOf(op: string, result: Operand, sources: readonly (Operand | undefined)[]): Demand {
  // A recording of before sources were described, or an operator that has none: nothing is known of what it reads.
  if (sources.every((source) => source === undefined)) {
    return { bytes: undefined, cold: undefined, coldAll: undefined, flops: undefined, quantised: false, bf16: false, atMost: false };
  }
  if (result.ne.includes(0)) return { bytes: 0, cold: 0, coldAll: 0, flops: 0, quantised: false, bf16: false, atMost: false };
  const moved = trafficOf(op, result, sources);
  const sum = (of: readonly Traffic[] | undefined) => known(of?.reduce((bytes, part) => bytes + part.bytes, 0));
  const bytes = sum(moved);
  const cold = (of: readonly Traffic[] | undefined) => bytes === undefined ? undefined : sum(of?.filter(({ operand }) => operand?.cold));
  const weights = products.has(op) ? elementType(sources[0]?.type ?? 0) : undefined;
  return {
    bytes,
    cold: cold(moved),
    coldAll: cold(op === "MUL_MAT_ID" ? moved?.with(0, traffic(sources[0])) : moved),
    flops: known(flopsOf(op, result, sources)),
    // Attention leaves out what its mask says: cells that are not in use, of other sequences, outside of a window; of a prompt what comes later.
    atMost: op === "FLASH_ATTN_EXT" ? sources[3] !== undefined : op === "MUL_MAT_ID" ? Number(sources[2]?.ne[1]) > 1 : triangles.has(op),
    quantised: (weights?.elements ?? 1) > 1,
    bf16: weights?.name === "bf16",
  };
}

const products = new Set(["MUL_MAT", "MUL_MAT_ID", "OUT_PROD"]);
/** On one side of a diagonal their result is not their source's. */
const triangles = new Set(["TRI", "DIAG_MASK_INF"]);

interface Traffic {
  readonly operand: Operand | undefined;
  readonly bytes: number;
}

const elements = ({ ne }: Operand) => ne.reduce((product, n) => product * n, 1);

/** All of an operand, or so many of its elements. */
function traffic(operand: Operand | undefined, count = operand && elements(operand)): Traffic {
  const type = operand && elementType(operand.type);
  return { operand, bytes: type ? count! / type.elements * type.bytes : NaN };
}

function trafficOf(op: string, result: Operand, sources: readonly (Operand | undefined)[]): readonly Traffic[] | undefined {
  const [first, second, third] = sources;
  switch (op) {
    // Of the table only the rows that are asked for, which are as many as come out.
    case "GET_ROWS":
      return [traffic(first, elements(result)), traffic(second), traffic(result)];
    // Into the table only the rows that are given; the result is all of the table.
    case "SET_ROWS":
      return [traffic(first), traffic(second), traffic(result, first && elements(first))];
    // The second source is what the result is a view of.
    case "CPY":
      return [traffic(first), traffic(result)];
    // Of the kernel it is asked for the extents alone.
    case "IM2COL":
      return [traffic(second), traffic(result)];
    // Of what it fills, too.
    case "FILL":
      return [traffic(result)];
    // Where the values are a part of what the keys are (MLA), they are read with these. Parts of what was computed may lie beside each other in it.
    case "FLASH_ATTN_EXT":
      if (second?.root === undefined || !second.cold || second.root !== third?.root) break;
      return trafficOf(op, result, sources.toSpliced(2, 1));
    // The matrices of the experts that are chosen: at most one for each row, and at most all.
    case "MUL_MAT_ID": {
      if (!first || !third) return undefined;
      const experts = first.ne[2]!;
      const used = Math.min(experts, elements(third));
      return [traffic(first, elements(first) / experts * used), traffic(second), traffic(third), traffic(result)];
    }
  }
  return indirect.has(op) ? undefined : [...sources.filter((source) => source !== undefined), result].map((operand) => traffic(operand));
}

/** They read or write a part of an operand that another one names, or keep a state beside them. */
const indirect = new Set(["SSM_SCAN", "ADD_ID", "GET_ROWS_BACK", "ACC", "SET", "CUSTOM", "MAP_CUSTOM1", "MAP_CUSTOM2", "MAP_CUSTOM3"]);

/** For each element of the result. */
const perResult: Readonly<Record<string, number>> = {
  ADD: 1,
  ADD1: 1,
  ADD_ID: 1,
  SUB: 1,
  MUL: 1,
  DIV: 1,
  SQR: 1,
  SQRT: 1,
  LOG: 1,
  SIN: 1,
  COS: 1,
  SCALE: 1,
  UNARY: 1,
  LEAKY_RELU: 1,
  // The smaller of two, and the larger.
  CLAMP: 2,
  // The activation and the product.
  GLU: 2,
  // Each pair is turned by four multiplications, an addition and a subtraction.
  ROPE: 3,
  // Square and sum; scale.
  RMS_NORM: 3,
  L2_NORM: 3,
  // Sum; subtract; square and sum; scale.
  NORM: 5,
  GROUP_NORM: 5,
  // Scale; largest; subtract and exponential; sum; divide. A mask is one more.
  SOFT_MAX: 6,
};
/** For each element of the first source. */
const perSource: Readonly<Record<string, number>> = { SUM: 1, SUM_ROWS: 1, CUMSUM: 1, MEAN: 1, ARGMAX: 1 };
/** They move data or look at it. */
const none = new Set([
  "DUP",
  "CPY",
  "CONT",
  "REPEAT",
  "CONCAT",
  "GET_ROWS",
  "SET_ROWS",
  "SET",
  "PAD",
  "ROLL",
  "IM2COL",
  "FILL",
  "TRI",
  "DIAG_MASK_INF",
]);

function flopsOf(op: string, result: Operand, sources: readonly (Operand | undefined)[]): number | undefined {
  if (none.has(op)) return 0;
  const [first, second, third, mask] = sources;
  if (op in perSource) return first && perSource[op]! * elements(first);
  switch (op) {
    case "MUL_MAT":
    case "MUL_MAT_ID":
      return first && 2 * first.ne[0]! * elements(result);
    case "OUT_PROD":
      return first && 2 * first.ne[1]! * elements(result);
    case "SOFT_MAX":
      return (perResult.SOFT_MAX! + (second ? 1 : 0)) * elements(result);
    // Queries × keys, and what comes of it × values, for each head; the softmax between, of each score.
    case "FLASH_ATTN_EXT": {
      if (!first || !second || !third) return undefined;
      const scores = first.ne[1]! * second.ne[1]! * first.ne[2]! * first.ne[3]!;
      return scores * (2 * first.ne[0]! + 2 * third.ne[0]! + perResult.SOFT_MAX! + (mask ? 1 : 0));
    }
  }
  return op in perResult ? perResult[op]! * elements(result) : undefined;
}

/** An operand of a type that is not known, or that could not be read, makes the sum not a number. */
function known(sum: number | undefined): number | undefined {
  return sum !== undefined && Number.isFinite(sum) ? sum : undefined;
}
