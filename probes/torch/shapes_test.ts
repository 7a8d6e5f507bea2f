import assert from "node:assert/strict";
import { replaceConditions } from "../../lib/programs/template.ts";
import { Decoding } from "../../tests/harness/decoding.ts";
import { ops } from "./ops.ts";
import { placesOf, reading, tensorPlaces } from "./shapes.ts";

const PAIR = 2 ** 32;

Deno.test("shapes: sizes of each place; none, one without dimensions, and large ones", () => {
  const ranks = 4 + 16 * 0 + 256 * 1 + 4096 * 5;
  assert.deepEqual(placesOf([7, ranks, 1 + 16 * PAIR, 64 + PAIR, 0, 0, 1 + PAIR, 1 + PAIR, 2 + 3 * PAIR, 4 + 151936 * PAIR]), [
    "1×16×64",
    undefined,
    "[]",
    "2×3×4×151936",
  ]);
});

/** What the program makes of a place with these sizes, by its own statements: 64 bits, which a reader of lines makes a JavaScript number of. */
function packed(sizes: readonly bigint[]): number[] {
  const statements = reading("READ_SHAPES").split("\n")[0]!;
  const packing = statements.slice(statements.lastIndexOf("if ($n0 <= 4 && $p0 == $e0"));
  const known = { $n0: BigInt(sizes.length), $p0: sizes.reduce((all, size) => all * size, 1n) };
  const given = Object.fromEntries([0, 1, 2, 3].map((i) => [`$d0${i}`, sizes[i] ?? 1n]));
  const values: Record<string, bigint> = { ...known, ...given, $e0: known.$p0, $r0: 0n, $x0: 0n, $y0: 0n };
  const names = Object.keys(values);
  const run = new Function(...names, `${packing.replace(/\b\d+\b/g, "$&n")} return [$r0, $x0, $y0];`);
  return run(...Object.values(values)).map((value: bigint) => Number(BigInt.asUintN(64, value)));
}

Deno.test("shapes: however large a size is, none is rounded, and what could be is not told", () => {
  const shapes = [[1, 3_000_000], [3_000_000, 1], [4_294_967_295, 1], [1, 4_294_967_295], [1, 1, 3_000_001, 5], [2, 3, 5, 151_936], [
    1_000_003,
    1_048_575,
  ], []];
  for (const shape of [...shapes, [0, 4_000_000_000], [7, 7]]) {
    const [rank, ...pairs] = packed(shape.map(BigInt));
    assert.equal(placesOf([7, rank!, ...pairs])[0], shape.join("×") || "[]");
  }
  for (const shape of [[4_294_967_296], [1, 4_294_967_296], [1_048_576, 1_048_576]]) {
    assert.deepEqual(packed(shape.map(BigInt)), [0, 0, 0], shape.join("×"));
  }
});

Deno.test("shapes: which places hold tensors, by the mangled names of PyTorch's operators", () => {
  const places = {
    // Returns a tensor, to a place that comes first.
    _ZN2at4_ops1t4callERKNS_6TensorE: [1, 2],
    _ZN2at4_ops10add_Tensor4callERKNS_6TensorES4_RKN3c106ScalarE: [1, 3],
    _ZN2at4_ops5addmm4callERKNS_6TensorES4_S4_RKN3c106ScalarES8_: [1, 4],
    _ZN2at4_ops6linear4callERKNS_6TensorES4_RKN3c108optionalIS2_EE: [1, 3],
    // More than are looked at.
    _ZN2at4_ops6x_lots4callERKNS_6TensorES4_S4_S4_S4_: [1, 4],
    // Changes its first argument, and returns that.
    _ZN2at4_ops5relu_4callERNS_6TensorE: [0, 1],
    _ZN2at4_ops11add__Tensor4callERNS_6TensorERKS2_RKN3c106ScalarE: [0, 2],
    _ZN2at4_ops8addcmul_4callERNS_6TensorERKS2_S5_RKN3c106ScalarE: [0, 3],
    // Writes into its last, and into several: these return a reference, and a tuple.
    _ZN2at4_ops7add_out4callERKNS_6TensorES4_RKN3c106ScalarERS2_: [0, 2],
    _ZN2at4_ops11max_dim_max4callERKNS_6TensorElbRS2_S5_: [1, 2],
    _ZN2at4_ops10resize_out4callERKNS_6TensorEN3c108ArrayRefINS5_6SymIntEEENS5_8optionalINS5_12MemoryFormatEEES4_: [0, 1],
    _ZN2at4_ops21split_copy_Tensor_out4callERKNS_6TensorEllN3c108ArrayRefIS2_EE: [0, 1],
    _ZN2at4_ops12_aminmax_out4callERKNS_6TensorERS2_S5_: [1, 2],
    // Changes what it is given to read, and returns that; another one with such a name does not.
    _ZN2at4_ops7resize_4callERKNS_6TensorEN3c108ArrayRefINS5_6SymIntEEENS5_8optionalINS5_12MemoryFormatEEE: [0, 1],
    _ZN2at4_ops10resize_as_4callERKNS_6TensorES4_N3c108optionalINS5_12MemoryFormatEEE: [0, 2],
    _ZN2at4_ops14__and___Tensor4callERKNS_6TensorES4_: [1, 3],
    // Returns nothing, or a number.
    _ZN2at4_ops13_assert_async4callERKNS_6TensorE: [0, 1],
    _ZN2at4_ops19_use_cudnn_ctc_loss4callERKNS_6TensorES4_N3c108ArrayRefIlEES7_l: [0, 2],
    _ZN2at4_ops5equal4callERKNS_6TensorES4_: [0, 2],
    // No tensor comes first.
    _ZN2at4_ops3cat4callERKN3c108IListRefINS_6TensorEEEl: [1, 1],
    _ZN2at4_ops19empty_memory_format4callEN3c108ArrayRefINS2_6SymIntEEENS2_8optionalINS2_10ScalarTypeEEE: [1, 1],
  };
  for (const [symbol, [from, to]] of Object.entries(places)) {
    assert.deepEqual(tensorPlaces(symbol), { from, to }, symbol);
  }
});

Deno.test("shapes: a call has those of its id, one object for all that are alike; none where what they are was lost", () => {
  const LINEAR = "_ZN2at4_ops6linear4callERKNS_6TensorES4_RKN3c108optionalIS2_EE";
  const d = new Decoding(ops([LINEAR]));
  d.fact(0, {
    fact: "code",
    pid: 100,
    ranges: [{ at: 0x4000, bytes: 0x2000, file: "libtorch_cpu.so" }],
    functions: [{ at: 0x4100, bytes: 32, name: LINEAR }],
  });
  d.event(9, "torch/ops.shape", { id: 5, ranks: 3 * 16 + 3 * 256, a1: 16 + 64 * PAIR, b1: 1 + PAIR, a2: 8 + 64 * PAIR, b2: 1 + PAIR });
  d.event(10, "torch/ops.shaped", { function: 0x4104, began: 6, shape: 5 });
  d.event(12, "torch/ops.shaped", { function: 0x4104, began: 11, shape: 5 });
  d.event(14, "torch/ops.shaped", { function: 0x4104, began: 13, shape: 6 });
  const [first, second] = d.spans;
  assert.ok(first!.type === "slice" && second!.type === "slice" && first!.args === second!.args);
  assert.deepEqual(d.end(20), [
    '100/100 torch.op "linear" 6–10 shapes=16×64, 8×64',
    '100/100 torch.op "linear" 11–12 shapes=16×64, 8×64',
    '100/100 torch.op "linear" 13–14',
  ]);
});

Deno.test("shapes: nothing is read where nobody asks", () => {
  const text = reading(ops().template);
  assert.doesNotMatch(replaceConditions(text, () => false), /torch_sizes =|torch_given|EMIT\(shape/);
  assert.doesNotMatch(replaceConditions(text, () => true), /EMIT\(op,|FIND_SIZES|READ_SHAPES|WITH/);
});

Deno.test("shapes: where none could be read it is said, once", () => {
  const d = new Decoding(ops(["f"]));
  d.event(10, "torch/ops.shaped", { function: 0x4104, began: 6 });
  assert.match(d.end(20)[1]!, /^mark note 20 torch: shapes were not read/);
  assert.deepEqual(d.end(30), []);
});
