import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { kernelTest, matrixTest } from "../../tests/harness/kernel.ts";
import { computingLibrary } from "../../tests/setup/more_engines.ts";
import { engineRun } from "../../tests/workloads/engine_run.ts";
import { model } from "../../tests/workloads/model.ts";
import { type ElementType, elementType, knownNumber, numberOf } from "./types.ts";

/** Those that a ggml has under the numbers below that one; it must have given them: asked for another one, it reads what lies behind its table. */
function typesIn(path: string, numbers: number): ElementType[] {
  const ggml = Deno.dlopen(path, {
    ggml_type_name: { parameters: ["i32"], result: "pointer" },
    ggml_blck_size: { parameters: ["i32"], result: "i32" },
    ggml_type_size: { parameters: ["i32"], result: "usize" },
  });
  const { ggml_type_name, ggml_blck_size, ggml_type_size } = ggml.symbols;
  const types = Array.from({ length: numbers }, (_, number) => {
    const pointer = ggml_type_name(number);
    const name = pointer === null ? "none" : Deno.UnsafePointerView.getCString(pointer);
    return { name, elements: ggml_blck_size(number), bytes: Number(ggml_type_size(number)) };
  });
  ggml.close();
  return types;
}

Deno.test("types: a number that a fork has given to blocks of another size is no type of ggml's", () => {
  const told = (number: number, bytes: number) => bytes * 2 ** 32 + number;
  assert.deepEqual([told(39, 17), told(39, 1), told(41, 18), told(41, 14), 39].map(knownNumber), [39, -1, 41, -1, 39]);
  assert.deepEqual([told(39, 1), 39].map(numberOf), [39, 39]);
  // A transposed view.
  assert.equal(knownNumber(told(1, 2048)), 1);
});

kernelTest("types: every type of a real ggml has the blocks that it has there", { engine: true }, async () => {
  const { libraries } = await engineRun({ model: model("tiny"), tokens: 1 });
  const types = typesIn(libraries.find((library) => library.includes("/libggml-base."))!, 43);
  for (const [number, expected] of types.entries()) {
    // Removed types have no elements; three of them were there in versions of 2024 (below).
    if (number < 31 || number > 33) assert.deepEqual(elementType(number), expected.elements === 0 ? undefined : expected, expected.name);
  }
  assert.ok(types.filter(({ elements }) => elements > 0).length >= 30);
});

matrixTest("types: those that a ggml of 2024 had, and which were removed since, have the blocks that they had there", { moreEngines: true }, () => {
  const base = join(dirname(computingLibrary("3.3")), "libggml-base.so");
  for (const [path, numbers] of [[computingLibrary("3.1"), 36], [base, 37]] as const) {
    const types = typesIn(path, numbers);
    for (const [number, expected] of types.entries()) {
      if (expected.elements > 0 && expected.name !== "iq4_nl_4x4") assert.deepEqual(elementType(number), expected);
    }
    assert.deepEqual(types.slice(31, 34).map(({ name }) => name), ["q4_0_4x4", "q4_0_4x8", "q4_0_8x8"]);
    assert.equal(elementType(36), undefined);
  }
});
