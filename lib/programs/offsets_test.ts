import assert from "node:assert/strict";
import { makeElf } from "../../tests/harness/elf.ts";
import { tensorLayout } from "../../probes/ggml/layout.ts";
import { readElf } from "../target/elf.ts";
import { findSymbols } from "../target/symbols.ts";
import type { FoundLibrary } from "./found_libraries.ts";
import { readOffset, valueOf } from "./offsets.ts";

async function offsetIn(code: string, arch: "x86_64" | "aarch64"): Promise<number | null> {
  const bytes = makeElf({ getter: code });
  const elf = (await readElf((at, length) => Promise.resolve(at < bytes.length ? bytes.subarray(at, at + length) : null)))!;
  return await readOffset({ elf, functions: (await findSymbols(elf, ["getter"])).functions } as FoundLibrary, "getter", arch);
}

Deno.test("offsets: what a getter adds to its argument, and nothing where it does something else", async () => {
  const x86 = {
    "f3 0f 1e fa 48 8d 87 08 01 00 00 c3": 264,
    "48 8d 87 00 01 00 00 c3": 256,
    "48 8d 47 78 c3": 120,
    "48 8d 47 f8 c3": -8,
    // With a frame: push %rbp; mov %rsp, %rbp; lea; pop %rbp; ret.
    "55 48 89 e5 48 8d 87 08 01 00 00 5d c3": 264,
    "f3 0f 1e fa 55 48 8d 87 00 01 00 00 48 89 e5 5d c3": 256,
    // Twice added, and nothing.
    "48 8d 47 78 48 8d 47 78 c3": null,
    "55 48 89 e5 5d c3": null,
    // mov 0x100(%rdi), %rax: what lies there, and not where.
    "48 8b 87 00 01 00 00 c3": null,
    // More behind it.
    "48 8d 87 00 01 00 00 90": null,
    "55 48 89 e5 48 89 7d f8": null,
  };
  for (const [code, offset] of Object.entries(x86)) assert.equal(await offsetIn(code, "x86_64"), offset, code);
  const arm = {
    // add x0, x0, #0x100; ret
    "00 00 04 91 c0 03 5f d6": 256,
    "5f 24 03 d5 00 20 04 91 c0 03 5f d6": 264,
    // paciasp; stp; add; mov x29, sp; ldp; autiasp; ret, and with retaa.
    "3f 23 03 d5 fd 7b bf a9 00 00 04 91 fd 03 00 91 fd 7b c1 a8 bf 23 03 d5 c0 03 5f d6": 256,
    "3f 23 03 d5 00 00 04 91 ff 0b 5f d6": 256,
    "00 00 04 91 00 00 04 91 c0 03 5f d6": null,
    // add x0, x1, #0x100; add x0, x0, #0x100, lsl #12; ldr x0, [x0, #248]
    "20 00 04 91 c0 03 5f d6": null,
    "00 00 44 91 c0 03 5f d6": null,
    "00 7c 40 f9 c0 03 5f d6": null,
  };
  for (const [code, offset] of Object.entries(arm)) assert.equal(await offsetIn(code, "aarch64"), offset, code);
  assert.equal(await offsetIn("c3", "x86_64"), null);
});

Deno.test("offsets: a value follows from what the getter says, from the usual where it says nothing, and may be why there is none", () => {
  const { sources, view, data, name } = tensorLayout;
  const values = (at?: number) => {
    const offsets = new Map(at === undefined ? [] : [["ggml_get_name", at]]);
    return [sources, view, data, name].map((param) => valueOf(param, offsets));
  };
  assert.deepEqual(values(264), [160, 240, 256, 264]);
  for (const newest of [values(256), values()]) assert.deepEqual(newest, [152, 232, 248, 256]);
  // Two sources more than any that is known.
  assert.deepEqual(values(272), [152, 248, 264, 272]);
  assert.match(String(values(288)[0]), /in phases/);
});
