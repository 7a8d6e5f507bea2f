import type { CostClass, Instructions } from "./site.ts";

/**
 * aarch64, as arch/arm64/kernel/probes/decode-insn.c decides, and on the safe side where kernels differ: what only newer ones do
 * (`nop` done by the kernel itself) counts as stepped, what only older ones accept (`ldr` from a literal) as refused.
 */
export const armSite: Instructions = {
  /** `bti`, `bti c`, `bti j`, `bti jc`: where an indirect call may land. */
  quiet: (bytes: Uint8Array) => (wordAt(bytes) & 0xffffff3f) >>> 0 === 0xd503241f ? 4 : 0,
  isOnce(code: Uint8Array, offset: number, isWhole: boolean): boolean {
    const starts = Array.from({ length: code.length >> 2 }, (_, i) => 4 * i);
    return isWhole && !starts.some((at) => {
      const target = targetOf(wordAt(code.subarray(at)), at);
      return target > 0 && target <= offset;
    });
  },
  classify(bytes: Uint8Array): CostClass | null {
    if (bytes.length < 4) return null;
    const word = wordAt(bytes);
    const is = masked(word);
    // The four groups of words that stand for no instruction, or for one of extensions that no kernel's decoder of today knows.
    if (((word >>> 25) & 0xf) < 4) return null;
    // adr, adrp; b, bl; cbz, cbnz; tbz, tbnz; b.cond; br, blr, ret.
    if (is(0x1f000000, 0x10000000) || is(0x7c000000, 0x14000000) || is(0x7e000000, 0x34000000) || is(0x7e000000, 0x36000000)) return "emulated";
    if (is(0xff000010, 0x54000000) || is(0xfffffc1f, 0xd61f0000) || is(0xfffffc1f, 0xd63f0000) || is(0xfffffc1f, 0xd65f0000)) return "emulated";
    // Hints: nop, bti and those that sign; others may wait, or trap as those that check a signature.
    if (is(0xfffff01f, 0xd503201f)) return steppedHints.has((word >>> 5) & 0x7f) ? "stepped" : null;
    // Other branches, exceptions and system instructions, but for barriers and reads of system registers.
    if (is(0x1c000000, 0x14000000)) return is(0xfffff01f, 0xd503301f) || is(0xfff00000, 0xd5300000) ? "stepped" : null;
    // ldr, ldrsw, prfm from a literal; exclusive loads and stores, which never succeed when they are stepped.
    if (is(0x3b000000, 0x18000000) || is(0x3f000000, 0x08000000)) return null;
    return "stepped";
  },
};

/** By CRm:op2: nop; paciaz 24, paciasp 25, pacibz 26, pacibsp 27, pacia1716 8, pacib1716 10, xpaclri 7; bti 32, 34, 36, 38. */
const steppedHints = new Set([0, 7, 8, 10, 24, 25, 26, 27, 32, 34, 36, 38]);

/** Where a branch leads by a number that it holds, for one that is not `bl`; NaN for other instructions. `br` by a table lands on a pad (`bti j`). */
function targetOf(word: number, at: number): number {
  const is = masked(word);
  /** Bits `low` and up, with sign, in instructions. */
  const jump = (low: number, bits: number) => at + 4 * (word << (32 - low - bits) >> (32 - bits));
  if (is(0xfc000000, 0x14000000)) return jump(0, 26);
  if (is(0x7e000000, 0x34000000) || is(0xff000000, 0x54000000)) return jump(5, 19);
  return is(0x7e000000, 0x36000000) ? jump(5, 14) : NaN;
}

/** Asks whether the bits of a mask have a value. */
function masked(word: number): (mask: number, value: number) => boolean {
  return (mask, value) => (word & mask) >>> 0 === value;
}

function wordAt(bytes: Uint8Array): number {
  return bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
}
