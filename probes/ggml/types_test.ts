import assert from "node:assert/strict";
import { kernelTest } from "../../tests/harness/kernel.ts";
import { engineRun } from "../../tests/workloads/engine_run.ts";
import { model } from "../../tests/workloads/model.ts";
import { elementType } from "./types.ts";

/** Numbers that the engine's ggml has given; asked for another one, it reads what lies behind its table. */
const NUMBERS = 43;

kernelTest("types: every type of a real ggml has the blocks that it has there", { engine: true }, async () => {
  const { libraries } = await engineRun({ model: model("tiny"), tokens: 1 });
  const path = libraries.find((library) => library.includes("/libggml-base."))!;
  const ggml = Deno.dlopen(path, {
    ggml_type_name: { parameters: ["i32"], result: "pointer" },
    ggml_blck_size: { parameters: ["i32"], result: "i64" },
    ggml_type_size: { parameters: ["i32"], result: "usize" },
  });
  const { ggml_type_name, ggml_blck_size, ggml_type_size } = ggml.symbols;
  let known = 0;
  for (let number = 0; number < NUMBERS; number++) {
    const pointer = ggml_type_name(number);
    const name = pointer === null ? "none" : Deno.UnsafePointerView.getCString(pointer);
    const elements = Number(ggml_blck_size(number));
    // Removed types have no elements.
    const expected = elements === 0 ? undefined : { name, elements, bytes: Number(ggml_type_size(number)) };
    assert.deepEqual(elementType(number), expected, name);
    if (expected) known++;
  }
  ggml.close();
  assert.ok(known >= 30, `${known} types`);
});
