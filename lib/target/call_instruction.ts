/** A call instruction is no longer. */
export const LONGEST_CALL = 7;

/** Whether the bytes before a place end in a call instruction. */
export function isBehindCall(before: Uint8Array | null, arch: "x86_64" | "aarch64"): boolean {
  if (!before || before.length < LONGEST_CALL) return false;
  if (arch === "aarch64") {
    const word = new DataView(before.buffer, before.byteOffset + before.length - 4, 4).getUint32(0, true);
    // bl, blr
    return word >>> 26 === 0b100101 || (word & 0xfffffc1f) >>> 0 === 0xd63f0000;
  }
  // call rel32; call r/m64: opcode ff with 2 in the middle of the next byte, whose other bits say how long it is.
  if (before.at(-5) === 0xe8) return true;
  return [2, 3, 4, 6, 7].some((length) => before.at(-length) === 0xff && lengthOfCall(before.at(1 - length)!, before.at(2 - length)) === length);
}

/** Of a `call r/m64` by the byte behind its opcode and the next: 0 where it is none. */
function lengthOfCall(modrm: number, sib = 0): number {
  const mode = modrm >> 6, operation = modrm >> 3 & 7, register = modrm & 7;
  if (operation !== 2) return 0;
  if (mode === 3) return 2;
  const hasSib = register === 4;
  const displacement = mode === 1 ? 1 : mode === 2 ? 4 : register === 5 || (hasSib && (sib & 7) === 5) ? 4 : 0;
  return 2 + (hasSib ? 1 : 0) + displacement;
}
