import assert from "node:assert/strict";
import { isBehindCall } from "./call_instruction.ts";

const before = (...bytes: number[]) => Uint8Array.from([...Array(7 - bytes.length).fill(0x90), ...bytes]);

Deno.test("a return address stands behind a call instruction of x86-64, whatever it says of where it calls", () => {
  const calls = {
    "call rel32": [0xe8, 1, 2, 3, 4],
    "call rax": [0xff, 0xd0],
    "call r11": [0x41, 0xff, 0xd3],
    "call [rax]": [0xff, 0x10],
    "call [rsp]": [0xff, 0x14, 0x24],
    "call [rbx+8]": [0xff, 0x53, 0x08],
    "call [rsp+8]": [0xff, 0x54, 0x24, 0x08],
    "call [rip+x]": [0xff, 0x15, 1, 2, 3, 4],
    "call [rax+x]": [0xff, 0x90, 1, 2, 3, 4],
    "call [r*8+x]": [0xff, 0x14, 0xc5, 1, 2, 3, 4],
  };
  for (const [name, bytes] of Object.entries(calls)) assert.ok(isBehindCall(before(...bytes), "x86_64"), name);
  for (const bytes of [[0x90], [0xff, 0xe0], [0xff, 0x25, 1, 2, 3, 4], [0x55, 0x48, 0x89, 0xe5]]) {
    assert.ok(!isBehindCall(before(...bytes), "x86_64"), bytes.map((byte) => byte.toString(16)).join(" "));
  }
  assert.ok(!isBehindCall(null, "x86_64"));
  assert.ok(!isBehindCall(Uint8Array.from([0xff, 0xd0]), "x86_64"), "cut short");
});

Deno.test("a return address stands behind a call instruction of aarch64", () => {
  const word = (value: number) => before(value & 255, value >> 8 & 255, value >> 16 & 255, value >>> 24);
  assert.ok(isBehindCall(word(0x94000010), "aarch64"), "bl");
  assert.ok(isBehindCall(word(0x97ffffff), "aarch64"), "bl backwards");
  assert.ok(isBehindCall(word(0xd63f0200), "aarch64"), "blr x16");
  assert.ok(!isBehindCall(word(0x14000010), "aarch64"), "b");
  assert.ok(!isBehindCall(word(0xd65f03c0), "aarch64"), "ret");
});
