import { isKernelAtLeast } from "../machine/kernel_release.ts";
import type { CostClass, Instructions } from "./site.ts";

const endbr64 = [0xf3, 0x0f, 0x1e, 0xfa];
const nop5 = [0x0f, 0x1f, 0x44, 0x00, 0x00];
/** The nops of 3 to 8 bytes that assemblers write; those of 1 and 2 are older in the kernel. */
const longNops = [
  [0x0f, 0x1f, 0x00],
  [0x0f, 0x1f, 0x40, 0x00],
  nop5,
  [0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
  [0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
  [0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
];

/**
 * x86-64, as arch/x86/kernel/uprobes.c decides. Emulated: pushes of registers (4.15), jumps and calls relative to the instruction pointer and
 * the one-byte nop (3.16), nops of several bytes (6.18; the 5-byte one is turned into a call of the kernel's own there). Refused: branches with
 * an operand size prefix, and so `66 90` before 6.2; instructions with a segment or lock prefix; what traps or belongs to the kernel.
 */
export const x86Site: Instructions = {
  /** `endbr64`, and comparisons of registers (`test`, `cmp`) with each other or with a number of one byte. */
  quiet(bytes: Uint8Array): number {
    if (startsWith(bytes, endbr64)) return endbr64.length;
    const { prefixes, rex, opcode } = decode(bytes);
    const operands = prefixes.length + (rex ? 2 : 1);
    const modrm = bytes[operands];
    if (prefixes.length > 0 || modrm === undefined || modrm >> 6 !== 3) return 0;
    if (comparisons.has(opcode!)) return operands + 1;
    // A group of eight instructions, of which the last compares.
    return opcode === 0x83 && (modrm >> 3 & 7) === 7 ? operands + 2 : 0;
  },
  /**
   * A `push` is in no loop. Of others it is sure when no byte of the function reads as a jump back to there, or to what leads there, and no jump goes
   * by a table. What compilers put apart as seldom (`.cold`) is not looked at.
   */
  isOnce(code: Uint8Array, offset: number, isWhole: boolean): boolean {
    const { rex, opcode } = decode(code.subarray(offset));
    return isPush(rex, opcode!) || (isWhole && !hasJumpInto(code, offset));
  },
  classify(bytes: Uint8Array, kernel: string): CostClass | null {
    const modern = isKernelAtLeast(kernel, 6, 18);
    if (modern && startsWith(bytes, nop5)) return "nop";
    if (modern && longNops.some((nop) => startsWith(bytes, nop))) return "emulated";
    const { prefixes, rex, opcode, second } = decode(bytes);
    if (opcode === undefined || prefixes.some((prefix) => refusedPrefixes.has(prefix))) return null;
    const sized = prefixes.includes(0x66);
    // `xchg %r8,%rax` is 0x90 too.
    if (opcode === 0x90 && (rex & 1) === 0) return sized && !isKernelAtLeast(kernel, 6, 2) ? null : "emulated";
    if (opcode >= 0x50 && opcode <= 0x57) return prefixes.length === 0 && isPush(rex, opcode) ? "emulated" : "stepped";
    const isBranch = opcode === 0xe8 || opcode === 0xe9 || opcode === 0xeb || (opcode & 0xf0) === 0x70 ||
      (opcode === 0x0f && (second! & 0xf0) === 0x80);
    if (isBranch) return sized ? null : "emulated";
    if (prefixes.length === 0 && rex === 0 && isAvxMove(bytes)) return "stepped";
    if (opcode === 0x0f) return second !== undefined && !refusedTwoByte.has(second) ? "stepped" : null;
    return refused.has(opcode) ? null : "stepped";
  },
};

/** Of a register, without a prefix but that which names the upper eight. */
function isPush(rex: number, opcode: number): boolean {
  return opcode >= 0x50 && opcode <= 0x57 && (rex === 0 || rex === 0x41);
}

/** Whether it is an instruction of AVX that no kernel takes for something else. */
function isAvxMove(bytes: Uint8Array): boolean {
  const opcode = bytes[0] === 0xc5 ? bytes[2] : bytes[0] === 0xc4 && (bytes[1]! & 0x1f) === 1 ? bytes[3] : undefined;
  return opcode !== undefined && avxMoves.has(opcode);
}

/** Whether any byte may begin a jump to behind the function's first instruction and to `offset` at most. */
function hasJumpInto(code: Uint8Array, offset: number): boolean {
  const view = new DataView(code.buffer, code.byteOffset, code.byteLength);
  const leads = (target: number) => target > 0 && target <= offset;
  for (let at = 0; at + 1 < code.length; at++) {
    const [first, second] = [code[at]!, code[at + 1]!];
    // By a table: with `endbr64` about, only jumps that need none at their targets (`notrack jmp`, with a REX where it needs one of the upper registers).
    const prefix = code[at - 1]! >> 4 === 4 ? code[at - 2] : code[at - 1];
    if (first === 0xff && (second >> 3 & 7) === 4 && (prefix === 0x3e || !startsWith(code, endbr64))) return true;
    // jmp, jcc, loop and jrcxz by one byte.
    if ((first === 0xeb || (first & 0xf0) === 0x70 || (first & 0xfc) === 0xe0) && leads(at + 2 + view.getInt8(at + 1))) return true;
    // jmp, jcc and xbegin by four bytes.
    const isWide = (first === 0x0f && (second & 0xf0) === 0x80) || (first === 0xc7 && second === 0xf8);
    const opcodeBytes = first === 0xe9 ? 1 : isWide ? 2 : 0;
    const end = at + opcodeBytes + 4;
    if (opcodeBytes > 0 && end <= code.length && leads(end + view.getInt32(at + opcodeBytes, true))) return true;
  }
  return false;
}

/** `cmp` and `test` of two registers. */
const comparisons = new Set([0x38, 0x39, 0x3a, 0x3b, 0x84, 0x85]);
/** Segments es, cs, ss, ds, and lock. */
const refusedPrefixes = new Set([0x26, 0x2e, 0x36, 0x3e, 0xf0]);
/**
 * Not in 64-bit mode, or not for programs: input and output, interrupts, int3, hlt, cli, sti. And AVX, of which the kernel looks at the opcode alone: it
 * takes `vzeroupper` for `ja`, and `vcmpps` for `ret`.
 */
const refused = new Set([
  ...[0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37, 0x3f, 0x60, 0x61, 0x82, 0x9a, 0xd4, 0xd5, 0xd6, 0xea],
  ...[0x6c, 0x6d, 0x6e, 0x6f, 0xe4, 0xe5, 0xe6, 0xe7, 0xec, 0xed, 0xee, 0xef, 0xcc, 0xcd, 0xce, 0xcf, 0xf1, 0xf4, 0xfa, 0xfb],
  ...[0x62, 0xc4, 0xc5],
]);
/** What AVX does with floats, and moves of them, by their numbers behind 0f. */
const avxMoves = new Set([...range(0x10, 0x15), 0x28, 0x29, ...range(0x51, 0x5f)]);
/** Behind 0f: what no kernel accepts (syscall, ud2, control registers) and what only some do. */
const refusedTwoByte = new Set([
  ...range(0x00, 0x0d),
  0x18,
  ...range(0x20, 0x27),
  ...[0x30, 0x34, 0x35, 0x36, 0x37],
  ...range(0x38, 0x3f),
  ...range(0x78, 0x7d),
  ...[0xa6, 0xa7, 0xaa, 0xae, 0xb8, 0xb9, 0xd0, 0xf0, 0xff],
]);

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

/** Prefixes in any order, then REX directly before the opcode. */
function decode(bytes: Uint8Array): { prefixes: number[]; rex: number; opcode: number | undefined; second: number | undefined } {
  const prefixes: number[] = [];
  let at = 0;
  while (isPrefix(bytes[at])) prefixes.push(bytes[at++]!);
  const rex = bytes[at] !== undefined && (bytes[at]! & 0xf0) === 0x40 ? bytes[at++]! : 0;
  return { prefixes, rex, opcode: bytes[at], second: bytes[at + 1] };
}

function isPrefix(byte: number | undefined): boolean {
  return byte !== undefined && (refusedPrefixes.has(byte) || [0x64, 0x65, 0x66, 0x67, 0xf2, 0xf3].includes(byte));
}

function startsWith(bytes: Uint8Array, prefix: readonly number[]): boolean {
  return prefix.every((byte, i) => bytes[i] === byte);
}
