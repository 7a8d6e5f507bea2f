import type { FoundLibrary } from "./found_libraries.ts";
import type { OffsetParam, Probe } from "./probe.ts";
import { offsetOf } from "../target/elf.ts";

/** What functions of a library add to their argument, by the names of the functions. */
export type Offsets = ReadonlyMap<string, number>;

export function offsetsOf({ params = {} }: Probe): OffsetParam[] {
  return Object.values(params).filter((param) => param.type === "offset");
}

/** Of a function that returns where a field of its argument lies: how far that is from the argument; null where it does something else. */
export async function readOffset({ elf, functions }: FoundLibrary, getter: string, arch: "x86_64" | "aarch64"): Promise<number | null> {
  const symbol = functions.get(getter);
  const at = symbol && offsetOf(elf, symbol.value);
  const code = typeof at === "number" ? await elf.read(at, LONGEST) : null;
  return code && (arch === "x86_64" ? x86Offset(code) : armOffset(code));
}

/** The value of a parameter in these libraries; a text says why it has none. */
export function valueOf({ getter, at, usual }: OffsetParam, offsets: Offsets): number | string {
  return at(offsets.get(getter) ?? usual);
}

/** Bytes of the longest of such functions: what adds is one instruction, and some builds keep frame pointers and sign return addresses around it. */
const LONGEST = 32;

/** Instructions of x86-64 that leave the argument and the result as they are: `endbr64`, `push %rbp`, `mov %rsp, %rbp`, `pop %rbp`. */
const AROUND = [[0xf3, 0x0f, 0x1e, 0xfa], [0x55], [0x48, 0x89, 0xe5], [0x5d]];

/** `lea disp32(%rdi), %rax` or `disp8`, then `ret`. */
function x86Offset(code: Uint8Array): number | null {
  const view = new DataView(code.buffer, code.byteOffset, code.byteLength);
  let at = 0, offset: number | null = null;
  while (at < code.length) {
    if (code[at] === 0xc3) return offset;
    const around = AROUND.find((bytes) => bytes.every((byte, i) => code[at + i] === byte));
    if (around) {
      at += around.length;
      continue;
    }
    const isShort = code[at + 2] === 0x47, length = isShort ? 4 : 7;
    if (offset !== null || code[at] !== 0x48 || code[at + 1] !== 0x8d || !(isShort || code[at + 2] === 0x87) || at + length > code.length) {
      return null;
    }
    offset = isShort ? view.getInt8(at + 3) : view.getInt32(at + 3, true);
    at += length;
  }
  return null;
}

/** The like of aarch64: `bti c`, `paciasp`, `stp x29, x30, [sp, #-16]!`, `mov x29, sp`, `ldp x29, x30, [sp], #16`, `autiasp`. */
const AROUND_ARM = new Set([0xd503245f, 0xd503233f, 0xa9bf7bfd, 0x910003fd, 0xa8c17bfd, 0xd50323bf]);
const RETURNS_ARM = new Set([0xd65f03c0, 0xd65f0bff]);

/** `add x0, x0, #imm12`, then `ret` or `retaa`. */
function armOffset(code: Uint8Array): number | null {
  const view = new DataView(code.buffer, code.byteOffset, code.byteLength);
  let offset: number | null = null;
  for (let at = 0; at + 4 <= code.length; at += 4) {
    const word = view.getUint32(at, true);
    if (RETURNS_ARM.has(word)) return offset;
    if (AROUND_ARM.has(word)) continue;
    if (offset !== null || (word & ~(0xfff << 10)) >>> 0 !== 0x91000000) return null;
    offset = word >>> 10 & 0xfff;
  }
  return null;
}
