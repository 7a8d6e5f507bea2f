import { elementType } from "./types.ts";

/** What reads and writes of a tensor depend on. */
export interface Operand {
  /** `ggml_type`. */
  readonly type: number;
  /** Elements by dimension, always four. */
  readonly ne: readonly number[];
}

/**
 * What an operator asks of the machine: bytes that it has to read and write at least once, and floating-point operations (a multiplication and an addition
 * are two; reading a quantised weight is none). Caches may spare some of the bytes, and an implementation may do more than it has to. Undefined: not known.
 */
export interface Demand {
  readonly bytes: number | undefined;
  readonly flops: number | undefined;
}

/** Of an operator by its name in ggml, what it computes, and its sources in order (`undefined` where a place is empty or was not seen). */
export function demandOf(op: string, result: Operand, sources: readonly (Operand | undefined)[]): Demand {
  // A recording of before sources were described, or an operator that has none: nothing is known of what it reads.
  if (sources.every((source) => source === undefined)) return { bytes: undefined, flops: undefined };
  return { bytes: known(bytesOf(op, result, sources)), flops: known(flopsOf(op, result, sources)) };
}

const elements = ({ ne }: Operand) => ne.reduce((product, n) => product * n, 1);

function bytes(operand: Operand | undefined, count = operand && elements(operand)): number {
  const type = operand && elementType(operand.type);
  return type ? count! / type.elements * type.bytes : NaN;
}

function bytesOf(op: string, result: Operand, sources: readonly (Operand | undefined)[]): number | undefined {
  const [first, second, third] = sources;
  const given = sources.filter((source) => source !== undefined);
  switch (op) {
    // Of the table only the rows that are asked for, which are as many as come out.
    case "GET_ROWS":
      return bytes(first, elements(result)) + bytes(second) + bytes(result);
    // Into the table only the rows that are given; the result is all of the table.
    case "SET_ROWS":
      return bytes(first) + bytes(second) + bytes(result, first && elements(first));
    // The second source is what the result is a view of.
    case "CPY":
      return bytes(first) + bytes(result);
    // The matrices of the experts that are chosen: at most one for each row, and at most all.
    case "MUL_MAT_ID": {
      if (!first || !third) return undefined;
      const experts = first.ne[2]!;
      return bytes(first) / experts * Math.min(experts, elements(third)) + bytes(second) + bytes(third) + bytes(result);
    }
  }
  return !indirect.has(op) ? given.reduce((sum, source) => sum + bytes(source), bytes(result)) : undefined;
}

/** They read or write a part of an operand that another one names, or keep a state beside them. */
const indirect = new Set(["ADD_ID", "GET_ROWS_BACK", "ACC", "SET", "CUSTOM", "MAP_CUSTOM1", "MAP_CUSTOM2", "MAP_CUSTOM3"]);

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
  CLAMP: 1,
  UNARY: 1,
  LEAKY_RELU: 1,
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
  "FILL",
  "ARANGE",
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
    // Queries × keys, and what comes of it × values, for each head; the softmax between, of each score. What a mask makes needless is counted.
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
