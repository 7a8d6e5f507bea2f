import assert from "node:assert/strict";
import { chooseSite, type SiteHost } from "./site.ts";

const bytes = (hex: string) => Uint8Array.fromHex(hex.replaceAll(" ", ""));
const modern: SiteHost = { offsets: true, kernel: "6.18.44", arch: "x86_64" };
const old: SiteHost = { ...modern, kernel: "5.15.0-91-generic" };
const arm: SiteHost = { ...modern, arch: "aarch64" };
const cost = (code: string, host = modern) => chooseSite(bytes(code), host)?.cost ?? "refused";

Deno.test("site: what the kernel does itself", () => {
  for (const code of ["55", "41 57", "53 48", "90", "f3 90", "e9 00 00 00 00", "eb 02", "e8 00 00 00 00", "74 05", "0f 84 00 00 00 00"]) {
    for (const host of [modern, old]) assert.equal(cost(code, host), "emulated", code);
  }
});

Deno.test("site: what is stepped, on old kernels and new ones", () => {
  for (const code of ["f3 0f 1e fa", "48 83 ec 08", "48 8d 05 00 00 00 00", "89 ff", "41 89 ff", "49 90", "49 57", "66 55", "c3", "0f b6 07"]) {
    for (const host of [modern, old]) assert.equal(cost(code, host), "stepped", code);
  }
});

Deno.test("site: nops of several bytes are cheap on newer kernels only", () => {
  const nops = ["0f 1f 00", "0f 1f 40 00", "0f 1f 44 00 00", "66 0f 1f 44 00 00", "0f 1f 80 00 00 00 00", "0f 1f 84 00 00 00 00 00"];
  assert.deepEqual(nops.map((code) => cost(code)), ["emulated", "emulated", "nop", "emulated", "emulated", "emulated"]);
  assert.deepEqual(nops.map((code) => cost(code, old)), nops.map(() => "stepped"));
  assert.equal(cost("66 90"), "emulated");
  assert.equal(cost("66 90", old), "refused");
  assert.equal(cost("66 90", { ...modern, kernel: "6.1.0-18-amd64" }), "refused");
});

Deno.test("site: what the kernel refuses is no site", () => {
  for (const code of ["cc", "f4", "0f 05", "0f 0b", "f0 48 0f b1 0f", "2e 90", "66 e8 00 00", "cd 80", "fa", "e4 10", "c5 f8 77", "66", ""]) {
    for (const host of [modern, old]) assert.equal(chooseSite(bytes(code), host), null, code);
  }
});

Deno.test("site: behind endbr64 where that is cheaper and allowed", () => {
  const pushed = bytes("f3 0f 1e fa 41 57 41 56 41 55");
  assert.deepEqual(chooseSite(pushed, modern), { offset: 4, cost: "emulated", gain: null });
  assert.deepEqual(chooseSite(pushed, { ...modern, offsets: false }), { offset: 0, cost: "stepped", gain: "emulated" });
  assert.deepEqual(chooseSite(bytes("f3 0f 1e fa 0f 1f 44 00 00"), modern), { offset: 4, cost: "nop", gain: null });
  // Dear there too, refused there, or no longer the function.
  for (const behind of ["48 83 ec 08", "f0 48 0f b1 0f", "cc", ""]) {
    assert.deepEqual(chooseSite(bytes(`f3 0f 1e fa ${behind}`), modern), { offset: 0, cost: "stepped", gain: null });
  }
});

Deno.test("site: without endbr64 the entry is the place", () => {
  assert.deepEqual(chooseSite(bytes("55 48 89 e5"), modern), { offset: 0, cost: "emulated", gain: null });
  assert.deepEqual(chooseSite(bytes("48 83 ec 08 55"), modern), { offset: 0, cost: "stepped", gain: null });
});

/** An aarch64 instruction as people write it, from its number. */
const word = (...words: readonly number[]) => new Uint8Array(new Uint32Array(words).buffer).toHex();

Deno.test("site: aarch64, on the safe side", () => {
  const stp = 0xa9bf7bfd, paciasp = 0xd503233f, btiC = 0xd503245f, nop = 0xd503201f, b = 0x14000002, adrp = 0x90000000;
  for (const each of [stp, paciasp, btiC, nop, 0xd10043ff, /* sub sp */ 0xd53bd041, /* mrs */ 0xd5033bbf /* dmb */]) {
    assert.equal(cost(word(each), arm), "stepped", each.toString(16));
  }
  for (const each of [b, adrp, 0x94000001, /* bl */ 0xb4000040, /* cbz */ 0x36000040, /* tbz */ 0x54000040, /* b.eq */ 0xd65f03c0 /* ret */]) {
    assert.equal(cost(word(each), arm), "emulated", each.toString(16));
  }
  const refused = [
    0x58000040, /* ldr = */
    0x885f7c00, /* ldxr */
    0xd4000001, /* svc */
    0xd50323bf, /* autiasp */
    0xd503203f, /* yield */
    0,
    0xd51bd040,
  ];
  for (const each of refused) assert.equal(cost(word(each), arm), "refused", each.toString(16));
  assert.deepEqual(chooseSite(bytes(word(btiC, b)), arm), { offset: 4, cost: "emulated", gain: null });
  assert.deepEqual(chooseSite(bytes(word(btiC, stp)), arm), { offset: 0, cost: "stepped", gain: null });
  assert.deepEqual(chooseSite(bytes(word(paciasp, b)), arm), { offset: 0, cost: "stepped", gain: null });
  assert.equal(chooseSite(bytes("1f 20"), arm), null);
});
