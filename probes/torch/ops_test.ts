import assert from "node:assert/strict";
import { Decoding } from "../../tests/harness/decoding.ts";
import { life } from "../process/life.ts";
import { operatorOf } from "./library.ts";
import { ops } from "./ops.ts";

const ADD = "_ZN2at4_ops10add_Tensor4callERKNS_6TensorES4_RKN3c106ScalarE";
const T = "_ZN2at4_ops1t4callERKNS_6TensorE";
const CODE = {
  fact: "code",
  pid: 100,
  ranges: [{ at: 0x4000, bytes: 0x2000, file: "libtorch_cpu.so" }],
  functions: [{ at: 0x4200, bytes: 16, name: ADD }, { at: 0x4100, bytes: 32, name: T }],
} as const;

Deno.test("torch: an operator by the mangled name of its call, with its overload", () => {
  const names = {
    [ADD]: "add_Tensor",
    [T]: "t",
    _ZN2at4_ops22_softmax_backward_data4callERKNS_6TensorES4_lN3c1010ScalarTypeE: "_softmax_backward_data",
    _ZN2at4_ops10add_Tensor10redispatchEN3c1014DispatchKeySetERKNS_6TensorES6_RKNS2_6ScalarE: null,
    _ZN2at4_ops99add_Tensor4callE: null,
    _ZN2at4_ops04callE: null,
    _ZN2at3addERKNS_6TensorES2_: null,
    at_ops: null,
  };
  for (const [symbol, name] of Object.entries(names)) assert.equal(operatorOf(symbol), name, symbol);
});

Deno.test("torch: a call lies before its record, and is named by the code of its process", () => {
  const d = new Decoding(ops([ADD, T]), life);
  d.event(5, "torch/ops.op", { function: 0x4204, began: 3 });
  d.fact(0, CODE);
  d.event(10, "torch/ops.op", { function: 0x4204, began: 6 }, "100/101");
  d.event(12, "torch/ops.op", { function: 0x4100, began: 3 }, "100/101");
  d.event(13, "torch/ops.op", { function: 0x4130, began: 12 });
  d.event(20, "process/life.task", { id: 200 }, "100");
  d.event(30, "torch/ops.op", { function: 0x4100, began: 29 }, "200");
  assert.deepEqual(d.end(40), [
    '100/100 torch.op "unknown operator" 3–5',
    '100/101 torch.op "add_Tensor" 6–10',
    '100/101 torch.op "t" 3–12',
    '100/100 torch.op "unknown operator" 12–13',
    '200/200 torch.op "t" 29–30',
  ]);
});
