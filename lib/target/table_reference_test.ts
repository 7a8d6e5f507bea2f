import assert from "node:assert/strict";
import { tableUsedBy } from "./table_reference.ts";

function words(...values: number[]): Uint8Array {
  return new Uint8Array(new Uint32Array(values).buffer);
}

Deno.test("table reference: x86-64, as gcc builds ggml_op_name", () => {
  // endbr64; mov %edi,%edi; lea 0xad5f3(%rip),%rax; mov (%rax,%rdi,8),%rax; ret
  const code = Uint8Array.fromHex("f30f1efa89ff488d05f3d50a00488b04f8c3");
  assert.equal(tableUsedBy("x86_64", code, 0x1e8c0), 0xcbec0);
});

Deno.test("table reference: x86-64, a table before the function and another register", () => {
  assert.equal(tableUsedBy("x86_64", Uint8Array.fromHex("4c8d05f9ffffff"), 0x1000), 0x1000);
});

Deno.test("table reference: a function of another shape has none", () => {
  assert.equal(tableUsedBy("x86_64", Uint8Array.fromHex("31c0c3488d0500000000"), 0x1000), null);
  assert.equal(tableUsedBy("x86_64", Uint8Array.fromHex("488d05"), 0x1000), null);
  assert.equal(tableUsedBy("aarch64", words(0xd65f03c0, 0xb0000580, 0x9103b000), 0x1000), null);
  assert.equal(tableUsedBy("aarch64", words(0x9103b000), 0x1000), null);
  assert.equal(tableUsedBy("other", new Uint8Array(40), 0x1000), null);
});

Deno.test("table reference: aarch64, adrp and add", () => {
  // At 0x1e8c0: adrp x1, 0xcb000 (0xad pages ahead); add x1, x1, #0xec0; ldr x0, [x1, w0, uxtw #3]; ret
  const pages = 0xad;
  const adrp = (0x90000001 | (pages & 3) << 29 | (pages >> 2) << 5) >>> 0;
  const add = (0x91000021 | 0xec0 << 10) >>> 0;
  assert.equal(tableUsedBy("aarch64", words(adrp, add, 0xf8605820, 0xd65f03c0), 0x1e8c0), 0xcbec0);
  // One page back: all 21 bits set.
  assert.equal(tableUsedBy("aarch64", words(0xf0ffffe1, add), 0x1e8c0), 0x1dec0);
});
