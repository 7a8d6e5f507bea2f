import assert from "node:assert/strict";
import { demandOf, type Operand } from "./demand.ts";

const F32 = 0, F16 = 1, Q4_0 = 2, Q8_0 = 8, I32 = 26, I64 = 27, BF16 = 30;
const operand = (type: number, ...ne: number[]): Operand => ({ type, ne: [...ne, 1, 1, 1].slice(0, 4) });

type Figure = number | undefined;
type Case = [name: string, op: string, result: Operand, sources: (Operand | undefined)[], bytes: Figure, flops: Figure];

/** One case of several operators. */
const each = (ops: string, result: Operand, sources: Operand[], bytes: Figure, flops: Figure) =>
  ops.split(" ").map((op): Case => [op, op, result, sources, bytes, flops]);

/** Each case is counted by hand, from what ggml computes: see the comment beside it. */
const cases: Case[] = [
  // 64 rows of 32 weights in one block of 18 bytes; 32 and 64 floats. 64 sums of 32 products.
  ["a quantised matrix and a vector", "MUL_MAT", operand(F32, 64), [operand(Q4_0, 32, 64), operand(F32, 32)], 64 * 18 + 32 * 4 + 64 * 4, 64 * 32 * 2],
  // Ten columns: the matrix is read once.
  [
    "a matrix and ten columns",
    "MUL_MAT",
    operand(F32, 64, 10),
    [operand(Q8_0, 32, 64), operand(F32, 32, 10)],
    64 * 34 + 10 * 32 * 4 + 640 * 4,
    640 * 64,
  ],
  // Two heads of keys serve four heads of queries: the result has four.
  ["shared heads", "MUL_MAT", operand(F32, 8, 3, 4), [operand(F16, 16, 8, 2), operand(F32, 16, 3, 4)], 256 * 2 + 192 * 4 + 96 * 4, 96 * 32],
  // Two of eight experts for one token, each 32 × 64.
  [
    "two experts",
    "MUL_MAT_ID",
    operand(F32, 64, 2),
    [operand(Q4_0, 32, 64, 8), operand(F32, 32, 1), operand(I32, 2)],
    2 * 64 * 18 + 32 * 4 + 2 * 4 + 128 * 4,
    128 * 64,
  ],
  // Seventeen tokens ask for thirty-four: all eight, once.
  [
    "all experts",
    "MUL_MAT_ID",
    operand(F32, 64, 2, 17),
    [operand(Q4_0, 32, 64, 8), operand(F32, 32, 1, 17), operand(I32, 2, 17)],
    8 * 64 * 18 + 17 * 32 * 4 + 34 * 4 + 34 * 64 * 4,
    34 * 64 * 64,
  ],
  // Of a kernel of 3 × 1 × 4 × 8 only the extents are looked at.
  ["columns of an image", "IM2COL", operand(F16, 12, 30, 2), [operand(F16, 3, 1, 4, 8), operand(F32, 32, 1, 4, 2)], 256 * 4 + 720 * 2, 0],
  ["a scan of states", "SSM_SCAN", operand(F32, 64), [operand(F32, 64), operand(F32, 64)], undefined, undefined],
  // Three of a thousand rows of 32 weights come out as floats.
  ["rows", "GET_ROWS", operand(F32, 32, 3), [operand(Q4_0, 32, 1000), operand(I32, 3)], 3 * 18 + 3 * 4 + 96 * 4, 0],
  // One row of 64 goes into a cache of 256 rows.
  ["a row of the cache", "SET_ROWS", operand(F16, 64, 256), [operand(F32, 64, 1), operand(I64, 1)], 64 * 4 + 8 + 64 * 2, 0],
  // 4 heads, 1 query of 16, 256 keys and values of 16 in two heads, a mask: 1024 scores of 32 + 32 + 7.
  [
    "attention",
    "FLASH_ATTN_EXT",
    operand(F32, 16, 4, 1),
    [operand(F32, 16, 1, 4), operand(F16, 16, 256, 2), operand(F16, 16, 256, 2), operand(F16, 256, 1)],
    64 * 4 + 2 * 8192 * 2 + 256 * 2 + 64 * 4,
    1024 * 71,
  ],
  // Of 24 numbers of each of 256 keys the first 16 are its values: they are read once, and computed with as any.
  [
    "attention whose values are a part of its keys",
    "FLASH_ATTN_EXT",
    operand(F32, 16, 4, 1),
    [operand(F32, 24, 1, 4), { ...operand(F16, 24, 256), cold: true, root: 1 }, { ...operand(F16, 16, 256), cold: true, root: 1 }],
    96 * 4 + 256 * 24 * 2 + 64 * 4,
    1024 * 86,
  ],
  // Queries, keys and values of one product lie beside each other.
  [
    "attention over parts of one product",
    "FLASH_ATTN_EXT",
    operand(F32, 16, 4, 1),
    [{ ...operand(F32, 16, 1, 4), root: 1 }, { ...operand(F32, 16, 8, 4), root: 1 }, { ...operand(F32, 16, 8, 4), root: 1 }],
    64 * 4 + 2 * 512 * 4 + 64 * 4,
    32 * 70,
  ],
  ["scores", "SOFT_MAX", operand(F32, 256, 4), [operand(F32, 256, 4), operand(F32, 256, 1)], (1024 + 256 + 1024) * 4, 1024 * 7],
  ["scores without a mask", "SOFT_MAX", operand(F32, 256, 4), [operand(F32, 256, 4)], 2048 * 4, 1024 * 6],
  ["a norm", "RMS_NORM", operand(F32, 64, 2), [operand(F32, 64, 2)], 256 * 4, 128 * 3],
  ["a sum of two", "ADD", operand(F32, 64, 2), [operand(F32, 64, 2), operand(F32, 64)], (128 + 64 + 128) * 4, 128],
  // Half of what went in comes out.
  ["a gate", "GLU", operand(F32, 32), [operand(F32, 64)], 96 * 4, 64],
  ["a turn", "ROPE", operand(F32, 16, 4), [operand(F32, 16, 4), operand(I32, 1)], 64 * 4 + 4 + 64 * 4, 64 * 3],
  ["a copy to another type", "CPY", operand(F16, 64), [operand(F32, 64), operand(F16, 64)], 64 * 4 + 64 * 2, 0],
  ["a sum of rows", "SUM_ROWS", operand(F32, 1, 4), [operand(F32, 64, 4)], 260 * 4, 256],
  // 8 × 4 sums of three products: rows are what the two have in common.
  ["outer products", "OUT_PROD", operand(F32, 8, 4), [operand(F32, 8, 3), operand(F32, 4, 3)], (24 + 12 + 32) * 4, 32 * 3 * 2],
  // One of each pair, of which the second is a row that serves both.
  ...each("SUB MUL DIV", operand(F32, 64, 2), [operand(F32, 64, 2), operand(F32, 64)], (128 + 64 + 128) * 4, 128),
  // The second is one number.
  ...each("ADD1", operand(F32, 64, 2), [operand(F32, 64, 2), operand(F32, 1)], (128 + 1 + 128) * 4, 128),
  // One of each number.
  ...each("SQR SQRT LOG SIN COS SCALE UNARY LEAKY_RELU", operand(F32, 64, 2), [operand(F32, 64, 2)], 256 * 4, 128),
  // Each is compared with both ends.
  ...each("CLAMP", operand(F32, 64, 2), [operand(F32, 64, 2)], 256 * 4, 2 * 128),
  // Each squared, added, scaled.
  ...each("L2_NORM", operand(F32, 64, 2), [operand(F32, 64, 2)], 256 * 4, 3 * 128),
  // Each added, less the mean, squared, added, scaled.
  ...each("NORM GROUP_NORM", operand(F32, 64, 2), [operand(F32, 64, 2)], 256 * 4, 5 * 128),
  // 256 numbers are added up: all; each to those before it in its row; by row, and divided by how many they are (a sum of 64 is 63 additions).
  ...each("SUM", operand(F32, 1), [operand(F32, 64, 4)], 257 * 4, 256),
  ...each("CUMSUM", operand(F32, 64, 4), [operand(F32, 64, 4)], 512 * 4, 256),
  ...each("MEAN", operand(F32, 1, 4), [operand(F32, 64, 4)], 260 * 4, 256),
  // Each is compared with the largest before it; of each row comes a place.
  ...each("ARGMAX", operand(I32, 4), [operand(F32, 64, 4)], 260 * 4, 256),
  // They go somewhere else as they are.
  ...each("DUP CONT ROLL", operand(F32, 64, 2), [operand(F32, 64, 2)], 256 * 4, 0),
  // One row four times, which is read once.
  ...each("REPEAT", operand(F32, 64, 4), [operand(F32, 64)], (64 + 256) * 4, 0),
  ...each("CONCAT", operand(F32, 64, 5), [operand(F32, 64, 2), operand(F32, 64, 3)], 640 * 4, 0),
  // 60 × 2 with zeros behind them.
  ...each("PAD", operand(F32, 64, 3), [operand(F32, 60, 2)], (120 + 192) * 4, 0),
  // What was there is not read.
  ...each("FILL", operand(F32, 64, 2), [operand(F32, 64, 2)], 128 * 4, 0),
  // At most: half of it is read.
  ...each("TRI DIAG_MASK_INF", operand(F32, 64, 64), [operand(F32, 64, 64)], 8192 * 4, 0),
  // Which part is written, and whether the rest is copied, stands in parameters that nobody reads.
  ...each("SET", operand(F32, 64, 2), [operand(F32, 64, 2), operand(F32, 64)], undefined, 0),
  ...each("ACC", operand(F32, 64, 2), [operand(F32, 64, 2), operand(F32, 64)], undefined, undefined),
  // Two of eight rows, or one twice, are added to two.
  ...each("ADD_ID", operand(F32, 64, 2), [operand(F32, 64, 2), operand(F32, 64, 8), operand(I32, 2)], undefined, 128),
  ...each("GET_ROWS_BACK", operand(F32, 64, 8), [operand(F32, 64, 2), operand(I32, 2)], undefined, undefined),
  ...each("MAP_CUSTOM1 MAP_CUSTOM2 MAP_CUSTOM3", operand(F32, 64), [operand(F32, 64)], undefined, undefined),
  ["what nobody described", "ADD", operand(F32, 64), [], undefined, undefined],
  ["an empty place", "ADD", operand(F32, 64), [operand(F32, 64), undefined], 512, 64],
  ["a product of something unread", "MUL_MAT", operand(F32, 64), [operand(F32, NaN, NaN, NaN, NaN), operand(F32, 32)], undefined, undefined],
  ["a type of tomorrow", "MUL_MAT", operand(F32, 64), [operand(99, 32, 64), operand(F32, 32)], undefined, 64 * 64],
  ["an operator of tomorrow", "WARP", operand(F32, 64), [operand(F32, 64)], 512, undefined],
  ["an operator of the engine's own", "CUSTOM", operand(F32, 64), [operand(F32, 64)], undefined, undefined],
];

Deno.test("demand: bytes and operations as counted by hand", () => {
  for (const [name, op, result, sources, bytes, flops] of cases) {
    const demand = demandOf(op, result, sources);
    assert.deepEqual([demand.bytes, demand.flops], [bytes, flops], name);
  }
});

Deno.test("demand: every operator of which something is known has a case", () => {
  const source = Deno.readTextFileSync(new URL("demand.ts", import.meta.url));
  const known = new Set([...source.matchAll(/"([A-Z][A-Z0-9_]+)"|\b([A-Z][A-Z0-9_]+): \d/g)].map(([, quoted, key]) => quoted ?? key!));
  assert.ok(["MUL_MAT", "GLU", "MEAN", "IM2COL"].every((op) => known.has(op)));
  assert.deepEqual([...known.difference(new Set(cases.map(([, op]) => op)))], []);
});

Deno.test("demand: what the graph did not compute is cold, products of quantised and of bf16 weights are told from others, and what a mask may spare", () => {
  const weights = { ...operand(Q4_0, 32, 64), cold: true };
  const { cold, quantised, bf16 } = demandOf("MUL_MAT", operand(F32, 64), [weights, operand(F32, 32)]);
  assert.deepEqual([cold, quantised, bf16], [64 * 18, true, false]);
  const pairs = demandOf("MUL_MAT", operand(F32, 64), [operand(BF16, 32, 64), operand(F32, 32)]);
  assert.deepEqual([pairs.quantised, pairs.bf16], [false, true]);
  assert.equal(demandOf("ADD", operand(F32, 64), [operand(BF16, 64), operand(F32, 64)]).bf16, false);
  const scores = demandOf("MUL_MAT", operand(F32, 8, 3, 4), [operand(F16, 16, 8, 2), operand(F32, 16, 3, 4)]);
  assert.deepEqual([scores.cold, scores.quantised], [0, false]);
  const attention = (tokens: number, cells: number, mask?: Operand) => {
    const [q, kv] = [operand(F32, 16, tokens, 4), operand(F16, 16, cells, 2)];
    return demandOf("FLASH_ATTN_EXT", operand(F32, 16, 4, tokens), [q, kv, kv, mask]).atMost;
  };
  // Of one token over many cells, too: they may be another sequence's, or outside of its window.
  assert.deepEqual([attention(1, 256), attention(1, 4096, operand(F16, 4096, 1)), attention(9, 256, operand(F16, 256, 9))], [false, true, true]);
  const experts = (tokens: number) =>
    demandOf("MUL_MAT_ID", operand(F32, 64, 2, tokens), [operand(Q4_0, 32, 64, 8), operand(F32, 32, 1, tokens), operand(I32, 2, tokens)]).atMost;
  assert.deepEqual([experts(1), experts(2)], [false, true]);
  const mixture = { ...operand(Q4_0, 32, 64, 8), cold: true };
  const chosen = (tokens: number) =>
    demandOf("MUL_MAT_ID", operand(F32, 64, 2, tokens), [mixture, operand(F32, 32, 1, tokens), operand(I32, 2, tokens)]);
  assert.deepEqual([chosen(1), chosen(17)].map(({ cold, coldAll }) => [cold, coldAll]), [[2 * 64 * 18, 8 * 64 * 18], [8 * 64 * 18, 8 * 64 * 18]]);
  assert.equal(demandOf("MUL_MAT", operand(F32, 64), [weights, operand(F32, 32)]).coldAll, 64 * 18);
  const square = operand(F32, 64, 64);
  assert.deepEqual(["TRI", "DIAG_MASK_INF", "CONT"].map((op) => demandOf(op, square, [square]).atMost), [true, true, false]);
  assert.equal(demandOf("GET_ROWS", operand(F32, 32, 3), [{ ...operand(Q4_0, 32, 1000), cold: true }, operand(I32, 3)]).cold, 3 * 18);
  assert.equal(demandOf("MUL_MAT", operand(F32, 64), [{ ...operand(99, 32, 64), cold: true }, operand(F32, 32)]).cold, undefined);
});
