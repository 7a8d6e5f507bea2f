import type { Elf } from "./elf.ts";

/**
 * The address of the table from which a function that consists of `return TABLE[argument];` takes its value. Reads only the two shapes
 * that compilers give such a function; anything else is null.
 *
 * @param code The function's first bytes.
 * @param address Address of the function in the file's own numbering.
 */
export function tableUsedBy(machine: Elf["machine"], code: Uint8Array, address: number): number | null {
  if (machine === "x86_64") return leaTarget(code, address);
  if (machine === "aarch64") return adrpTarget(code, address);
  return null;
}

/** `endbr64; mov %edi,%edi; lea TABLE(%rip),%rax; mov (%rax,%rdi,8),%rax; ret`: the first `lea` relative to the instruction pointer. */
function leaTarget(code: Uint8Array, address: number): number | null {
  const view = new DataView(code.buffer, code.byteOffset, code.byteLength);
  for (let at = 0; at + 7 <= code.length; at++) {
    // 48 8d /r (or 4c for r8 and up) with mod 00 and r/m 101, which means a displacement from the next instruction.
    const isLea = (code[at] === 0x48 || code[at] === 0x4c) && code[at + 1] === 0x8d && (code[at + 2]! & 0xc7) === 0x05;
    if (isLea) return address + at + 7 + view.getInt32(at + 3, true);
    if (code[at] === 0xc3) return null;
  }
  return null;
}

/** `adrp xN, PAGE; add xN, xN, #LOW; ldr x0, [xN, w0, uxtw #3]; ret`. */
function adrpTarget(code: Uint8Array, address: number): number | null {
  const view = new DataView(code.buffer, code.byteOffset, code.byteLength);
  let page: { register: number; address: number } | null = null;
  for (let at = 0; at + 4 <= code.length; at += 4) {
    const word = view.getUint32(at, true);
    if ((word & 0x9f000000) >>> 0 === 0x90000000) {
      // 21 bits, signed: the upper 19 in bits 5 to 23, the lower two in bits 29 and 30.
      const pages = ((word >> 5 & 0x7ffff) << 2 | word >>> 29 & 3) << 11 >> 11;
      page = { register: word & 31, address: Math.floor((address + at) / 4096) * 4096 + pages * 4096 };
    } else if ((word & 0xffc00000) >>> 0 === 0x91000000 && page && (word >> 5 & 31) === page.register) {
      return page.address + (word >> 10 & 0xfff);
    } else if (word === 0xd65f03c0) {
      return null;
    }
  }
  return null;
}
