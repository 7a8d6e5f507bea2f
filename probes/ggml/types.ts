/** How ggml keeps the elements of a tensor: in blocks, of so many elements in so many bytes. */
export interface ElementType {
  readonly name: string;
  readonly elements: number;
  readonly bytes: number;
}

const type = (name: string, elements: number, bytes: number): ElementType => ({ name, elements, bytes });

/**
 * By `ggml_type`. A number that was given once keeps its meaning; removed types keep theirs. Source: the type traits of ggml.c. 36 to 38 were those of
 * IQ4_NL in other orders for some days of 2024, and are in no file as such; in BitNet's ggml they are types of two bits, which all of its models have.
 */
const types: Readonly<Record<number, ElementType>> = {
  0: type("f32", 1, 4),
  1: type("f16", 1, 2),
  2: type("q4_0", 32, 18),
  3: type("q4_1", 32, 20),
  6: type("q5_0", 32, 22),
  7: type("q5_1", 32, 24),
  8: type("q8_0", 32, 34),
  9: type("q8_1", 32, 36),
  10: type("q2_K", 256, 84),
  11: type("q3_K", 256, 110),
  12: type("q4_K", 256, 144),
  13: type("q5_K", 256, 176),
  14: type("q6_K", 256, 210),
  15: type("q8_K", 256, 292),
  16: type("iq2_xxs", 256, 66),
  17: type("iq2_xs", 256, 74),
  18: type("iq3_xxs", 256, 98),
  19: type("iq1_s", 256, 50),
  20: type("iq4_nl", 32, 18),
  21: type("iq3_s", 256, 110),
  22: type("iq2_s", 256, 82),
  23: type("iq4_xs", 256, 136),
  24: type("i8", 1, 1),
  25: type("i16", 1, 2),
  26: type("i32", 1, 4),
  27: type("i64", 1, 8),
  28: type("f64", 1, 8),
  29: type("iq1_m", 256, 56),
  30: type("bf16", 1, 2),
  31: type("q4_0_4x4", 32, 18),
  32: type("q4_0_4x8", 32, 18),
  33: type("q4_0_8x8", 32, 18),
  34: type("tq1_0", 256, 54),
  35: type("tq2_0", 256, 66),
  39: type("mxfp4", 32, 17),
  40: type("nvfp4", 64, 36),
  41: type("q1_0", 128, 18),
  42: type("q2_0", 64, 18),
};

/** Above the number of a type a record has how many bytes it is from one block to the next: nothing in a recording from before that was told. */
const BLOCK = 2 ** 32;

/** The number of a type, as a record has it. */
export function numberOf(told: number): number {
  return told % BLOCK;
}

/**
 * The number of a type that is ggml's, or another one: forks (BitNet's, TurboQuant's) give numbers of their own to types that ggml has given since. Elements
 * that have a block each may lie further apart, in a view.
 */
export function knownNumber(told: number): number {
  const number = numberOf(told), bytes = Math.floor(told / BLOCK), type = elementType(number);
  return type && type.elements > 1 && bytes > 0 && bytes !== type.bytes ? UNKNOWN : number;
}

const UNKNOWN = -1;

/** Undefined: a type of a ggml that is newer than this table. */
export function elementType(number: number): ElementType | undefined {
  return types[number];
}
