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

/** Bytes of the longest of such functions. */
const LONGEST = 16;

/** `endbr64`; `lea disp32(%rdi), %rax` or `disp8`; `ret`. */
function x86Offset(code: Uint8Array): number | null {
  const view = new DataView(code.buffer, code.byteOffset, code.byteLength);
  const at = code.length >= 4 && view.getUint32(0, true) === 0xfa1e0ff3 ? 4 : 0;
  if (code.length < at + 8 || code[at] !== 0x48 || code[at + 1] !== 0x8d) return null;
  if (code[at + 2] === 0x47 && code[at + 4] === 0xc3) return view.getInt8(at + 3);
  return code[at + 2] === 0x87 && code[at + 7] === 0xc3 ? view.getInt32(at + 3, true) : null;
}

/** `bti c`; `add x0, x0, #imm12`; `ret`. */
function armOffset(code: Uint8Array): number | null {
  const view = new DataView(code.buffer, code.byteOffset, code.byteLength);
  const at = code.length >= 4 && view.getUint32(0, true) === 0xd503245f ? 4 : 0;
  if (code.length < at + 8 || view.getUint32(at + 4, true) !== 0xd65f03c0) return null;
  const add = view.getUint32(at, true);
  return (add & ~(0xfff << 10)) >>> 0 === 0x91000000 ? add >>> 10 & 0xfff : null;
}
