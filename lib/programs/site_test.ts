import assert from "node:assert/strict";
import { emulated, nops, refused, shortNop, stepped } from "../../tests/harness/instructions.ts";
import { chooseSite, type SiteHost } from "./site.ts";

const bytes = (hex: string) => Uint8Array.fromHex(hex.replaceAll(" ", ""));
const modern: SiteHost = { symbols: false, offsets: true, kernel: "6.18.44", arch: "x86_64" };
const old: SiteHost = { ...modern, kernel: "5.15.0-91-generic" };
const arm: SiteHost = { ...modern, arch: "aarch64" };
/** Of a function that is these bytes. */
const choose = (code: Uint8Array, host: SiteHost, probe: "entry" | "return" = "entry") => chooseSite(code, code.length, host, probe);
const cost = (code: string, host = modern) => choose(bytes(code), host)?.cost ?? "refused";

Deno.test("site: what the kernel does itself", () => {
  for (const code of emulated) {
    for (const host of [modern, old]) assert.equal(cost(code, host), "emulated", code);
  }
});

Deno.test("site: what is stepped, on old kernels and new ones", () => {
  for (const code of stepped) {
    for (const host of [modern, old]) assert.equal(cost(code, host), "stepped", code);
  }
});

Deno.test("site: nops of several bytes are cheap on newer kernels only", () => {
  assert.deepEqual(nops.map((code) => cost(code)), ["emulated", "emulated", "nop", "emulated", "emulated", "emulated"]);
  assert.deepEqual(nops.map((code) => cost(code, old)), nops.map(() => "stepped"));
  assert.equal(cost(shortNop), "emulated");
  assert.equal(cost(shortNop, old), "refused");
  assert.equal(cost(shortNop, { ...modern, kernel: "6.1.0-18-amd64" }), "refused");
});

Deno.test("site: what the kernel refuses is no site", () => {
  for (const code of [...refused, "66", ""]) {
    for (const host of [modern, old]) assert.equal(choose(bytes(code), host), null, code);
  }
});

Deno.test("site: behind endbr64 where that is cheaper and allowed", () => {
  const pushed = bytes("f3 0f 1e fa 41 57 41 56 41 55");
  assert.deepEqual(choose(pushed, modern), { offset: 4, cost: "emulated" });
  assert.deepEqual(choose(pushed, { ...modern, offsets: false }), { offset: 0, cost: "stepped" });
  assert.deepEqual(choose(bytes("f3 0f 1e fa 0f 1f 44 00 00"), modern), { offset: 4, cost: "nop" });
  // Dear there too, refused there, or no longer the function.
  for (const behind of ["48 83 ec 08", "f0 48 0f b1 0f", "cc", ""]) {
    assert.deepEqual(choose(bytes(`f3 0f 1e fa ${behind}`), modern), { offset: 0, cost: "stepped" });
  }
});

Deno.test("site: a return probe moves only where llmprof names the place, and then an entry needs no offsets of bpftrace's", () => {
  const pushed = bytes("f3 0f 1e fa 55 c3");
  const named = { ...modern, symbols: true, offsets: false };
  assert.deepEqual(choose(pushed, modern, "return"), { offset: 0, cost: "stepped" });
  for (const probe of ["entry", "return"] as const) assert.deepEqual(choose(pushed, named, probe), { offset: 4, cost: "emulated" });
});

Deno.test("site: behind comparisons of registers, which change no argument", () => {
  const at = (offset: number) => ({ offset, cost: "emulated" });
  const here = { offset: 0, cost: "stepped" };
  // test %rdi,%rdi; je: llama_sampler_apply.
  assert.deepEqual(choose(bytes("f3 0f 1e fa 48 85 ff 74 02 c3 90 c3"), modern), at(7));
  assert.deepEqual(choose(bytes("85 ff 0f 84 00 00 00 00 c3"), modern), at(2));
  // cmp %rsi,%rdi; cmp $5,%r8d; ja.
  assert.deepEqual(choose(bytes("48 39 f7 41 83 f8 05 77 01 c3 c3"), modern), at(7));
  // With memory, with another destination, another of the group (and), a number of four bytes, and what may be no whole instruction.
  for (const code of ["48 85 3f 74 00", "48 01 f7 74 00", "83 e7 05 74 00", "81 ff 00 00 00 00 74 00", "48 85"]) {
    assert.deepEqual(choose(bytes(code), modern), here, code);
  }
});

Deno.test("site: a place that a jump may come back to counts a call more than once, and is none", () => {
  const here = { offset: 0, cost: "stepped" };
  const loops = [
    "f3 0f 1e fa 48 85 ff 74 05 48 8b 3f eb f6 c3", // while (p) p = *p, from the comparison
    "f3 0f 1e fa e8 00 00 00 00 75 f9 c3", // do f(); while
    "f3 0f 1e fa e8 00 00 00 00 0f 85 f5 ff ff ff c3",
    "f3 0f 1e fa e8 00 00 00 00 e9 f6 ff ff ff",
    "f3 0f 1e fa e8 00 00 00 00 e2 f9 c3", // loop
    "f3 0f 1e fa e8 00 00 00 00 c7 f8 f5 ff ff ff c3", // xbegin
    "f3 0f 1e fa e8 00 00 00 00 3e ff e0", // notrack jmp *%rax: by a table
    "f3 0f 1e fa e8 00 00 00 00 3e 41 ff e0", // … *%r8
    "f3 0f 1e fa e8 00 00 00 00 3e 42 ff 24 c5 00 00 00 00", // … *(,%r8,8)
    "85 ff 74 00 ff e0", // jmp *%rax where no jump is tracked
  ];
  for (const code of loops) assert.deepEqual(choose(bytes(code), modern), here, code);
  // A call's end by a jump, where tables need another. To the beginning is another call, and forward is none of it. A push is in no loop, whatever else reads as a jump.
  assert.deepEqual(choose(bytes("f3 0f 1e fa 48 85 ff 74 02 ff e0 c3"), modern)!.offset, 7);
  assert.deepEqual(choose(bytes("f3 0f 1e fa e8 00 00 00 00 75 f5 c3"), modern)!.offset, 4);
  assert.deepEqual(choose(bytes("f3 0f 1e fa 55 75 fd c3"), modern)!.offset, 4);
  // Of a function that is not known whole nobody can say.
  assert.deepEqual(chooseSite(bytes("f3 0f 1e fa e8 00 00 00 00"), 10, modern, "entry"), here);
  assert.deepEqual(chooseSite(bytes("f3 0f 1e fa e8 00 00 00 00"), 0, modern, "entry"), here);
  assert.deepEqual(chooseSite(bytes("f3 0f 1e fa 55"), 0, modern, "entry"), { offset: 4, cost: "emulated" });
});

Deno.test("site: without endbr64 the entry is the place", () => {
  assert.deepEqual(choose(bytes("55 48 89 e5"), modern), { offset: 0, cost: "emulated" });
  assert.deepEqual(choose(bytes("48 83 ec 08 55"), modern), { offset: 0, cost: "stepped" });
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
  assert.deepEqual(choose(bytes(word(btiC, b)), arm), { offset: 4, cost: "emulated" });
  assert.deepEqual(choose(bytes(word(btiC, stp)), arm), { offset: 0, cost: "stepped" });
  assert.deepEqual(choose(bytes(word(paciasp, b)), arm), { offset: 0, cost: "stepped" });
  assert.equal(choose(bytes("1f 20"), arm), null);
  // bti c; cbz; …; and back to the cbz: b, cbnz, tbnz, b.ne.
  for (const back of [0x17fffffe, 0xb5ffffc0, 0x37f7ffc0, 0x54ffffc1]) {
    assert.deepEqual(choose(bytes(word(btiC, 0xb4000060, nop, back)), arm), { offset: 0, cost: "stepped" }, back.toString(16));
  }
  assert.equal(choose(bytes(word(btiC, 0xb4000060, nop, 0x17fffffd)), arm)!.offset, 4, "to the beginning is another call");
  assert.equal(chooseSite(bytes(word(btiC, b)), 12, arm, "entry")!.offset, 0, "a function that is not known whole");
});
