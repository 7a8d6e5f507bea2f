import assert from "node:assert/strict";
import { chooseSite, costOf } from "./site.ts";

const bytes = (hex: string) => Uint8Array.fromHex(hex.replaceAll(" ", ""));

Deno.test("site: the price of an instruction", () => {
  for (const code of ["55", "41 57", "53 48", "90", "66 90", "e9 00 00 00 00", "eb 02", "e8 00 00 00 00", "74 05", "0f 84 00 00 00 00"]) {
    assert.equal(costOf(bytes(code)), "emulated", code);
  }
  assert.equal(costOf(bytes("0f 1f 44 00 00")), "nop");
  for (const code of ["f3 0f 1e fa", "48 83 ec 08", "48 8d 05 00 00 00 00", "89 ff", "41 89 ff", "0f 1f 00", "0f 1f 44 00", "c3", ""]) {
    assert.equal(costOf(bytes(code)), "stepped", code);
  }
});

Deno.test("site: behind endbr64 where that is cheaper and allowed", () => {
  const pushed = bytes("f3 0f 1e fa 41 57 41 56 41 55");
  assert.deepEqual(chooseSite(pushed, { offsets: true }), { offset: 4, cost: "emulated", gain: null });
  assert.deepEqual(chooseSite(pushed, { offsets: false }), { offset: 0, cost: "stepped", gain: "emulated" });
  assert.deepEqual(chooseSite(bytes("f3 0f 1e fa 0f 1f 44 00 00"), { offsets: true }), { offset: 4, cost: "nop", gain: null });
  assert.deepEqual(chooseSite(bytes("f3 0f 1e fa 48 83 ec 08"), { offsets: true }), { offset: 0, cost: "stepped", gain: null });
  assert.deepEqual(chooseSite(bytes("f3 0f 1e fa"), { offsets: true }), { offset: 0, cost: "stepped", gain: null });
});

Deno.test("site: without endbr64 the entry is the place", () => {
  assert.deepEqual(chooseSite(bytes("55 48 89 e5"), { offsets: true }), { offset: 0, cost: "emulated", gain: null });
  assert.deepEqual(chooseSite(bytes("48 8d 05 00 00 00 00"), { offsets: true }), { offset: 0, cost: "stepped", gain: null });
});

Deno.test("site: aarch64 stays on the entry", () => {
  // paciasp; stp x29, x30, [sp, #-16]!
  assert.deepEqual(chooseSite(bytes("3f 23 03 d5 fd 7b bf a9"), { offsets: true }, "aarch64"), { offset: 0, cost: "stepped", gain: null });
  assert.deepEqual(chooseSite(bytes("1f 20 03 d5"), { offsets: true }, "aarch64"), { offset: 0, cost: "emulated", gain: null });
});
