import { writeElf } from "../../machine/elf_writer.ts";

/** Kinds of calls that the program makes, in the order in which it writes their times: a layer of each in a row. `none` carries no probe. */
export const hitKinds = ["none", "nop", "emulated", "stepped", "return", "printed"] as const;
export type HitKind = (typeof hitKinds)[number];
/** Calls of a kind in a row. Before each is read what an operator of a model's layer reads, which operator by its place. */
export const LAYER = 20;

/** Name of the function in the program's symbol table. */
export function hitFunction(kind: HitKind): string {
  return `hit_${kind}`;
}

interface Code {
  readonly code: string;
  /** Offsets of the functions in the code, in the order of {@link hitKinds}. */
  readonly functions: readonly number[];
}

/** Assembled from x86_64.s and aarch64.s beside this file, which explain themselves. */
export const codes: Readonly<Record<"x86_64" | "aarch64", Code>> = {
  x86_64: {
    code:
      "McAx/76AAAAQugEAAAAPBb8BAAAAOfgPhfAAAAC/AAAAEMYHAIHHABAAAIH/AAAQMHLvvQAAAhBBvHgAAABBvgAAEBBBvwAQABDoLwEAAEG9FAAAAOi6AAAA6FEBAADo+QAAAEH/zXXsQb0UAAAA6KAAAADoRwEAAOjfAAAAQf/NdexBvRQAAADohgAAAOg9AQAA6MUAAABB/8117EG9FAAAAOhsAAAA6DMBAADoqwAAAEH/zXXsQb0UAAAA6FIAAADoKQEAAOiRAAAAQf/NdexBvRQAAADoOAAAAOgfAQAA6HcAAABB/8117EH/zA+FW////+iFAAAAuAEAAACJx74AAAIQieop8g8FMf+4PAAAAA8F6FUAAABIicNCiwytDAJAAEkDBkmDxkD/yXX1SYH+AADgL3YGQb4AABAQSYHHUAEAAEmB/4ABARByBkG/ABAAEL8AAAAQTIn+w+gMAAAASCnYSIlFAEiDxQjDD67oDzEPruhIweIgSAnQw+jr////SIlFALjkAAAAvwEAAABIjXUIDwVIaUUIAMqaO0gDRRBIiUUISIPFEMMPH0AAVV3DZmYuDx+EAAAAAABmkA8fRAAAw2YuDx+EAAAAAABVXcNmZi4PH4QAAAAAAGaQ8w8e+sNmZi4PH4QAAAAAAFVdw2ZmLg8fhAAAAAAAZpBVXcNmZi4PH4QAAAAAAGaQAMAAAAABAAAAwAAAAMAAAAABAAAAAQAAAAEAAAAgAAAAAQAAAAEAAAABAAAAAQAAAAEAAAABAAAAAQAAACAAAAAgAAAAwAAAAAEAAAABAAA=",
    functions: [0x1b0, 0x1c0, 0x1d0, 0x1e0, 0x1f0, 0x200],
  },
  aarch64: {
    code:
      "AACA0gEQgNIBAKLyIgCA0ugHgNIBAADUHwQA8eEHAFQAAIDSAACi8gEAgNIBAqbyHwAAOQAEQJEfAAHro///VBMAgNJTAKLyFA+A0hUAgNIVAqLyFgCC0hYAovJQAACUmAKA0i8AAJReAACURgAAlBgHAPGB//9UmAKA0ikAAJRcAACUQAAAlBgHAPGB//9UmAKA0iMAAJRaAACUOgAAlBgHAPGB//9UmAKA0h0AAJRYAACUNAAAlBgHAPGB//9UmAKA0hcAAJRWAACULgAAlBgHAPGB//9UmAKA0hEAAJRUAACUKAAAlBgHAPGB//9UlAYA8WH7/1QpAACUIACA0gEAgNJBAKLyYgIBywgIgNIBAADUAACA0qgLgNIBAADU3z8D1VfgO9XfPwPViQgAECl5eLiqBkT4KQUA8cH//1QKAIDSCvyl8r8CCutpAABUFQCA0hUCovLWQgWRCjCA0ioAovLfAgrrYwAAVBYAgtIWAKLyAACA0gAAovLhAxaqwANf1t8/A9VK4DvV3z8D1UoBF8tqhgD4wANf1t8/A9VK4DvVagIA+SgOgNIgAIDSYSIAkQEAANRqrkCpDECZ0kxzp/JKLQybagYA+XNCAJHAA1/WHyAD1R8gA9UfIAPVHyAD1cADX9YfIAPVHyAD1R8gA9XAA1/WHyAD1R8gA9UBAAAUwANf1h8gA9UfIAPVXyQD1R8gA9XAA1/WHyAD1QEAABTAA1/WHyAD1R8gA9UBAAAUwANf1h8gA9UfIAPVAMAAAAABAAAAwAAAAMAAAAABAAAAAQAAAAEAAAAgAAAAAQAAAAEAAAABAAAAAQAAAAEAAAABAAAAAQAAACAAAAAgAAAAwAAAAAEAAAABAAA=",
    functions: [0x1e0, 0x1f0, 0x200, 0x210, 0x220, 0x230],
  },
};

const CODE_ADDRESS = 0x400000;
/** DATA to WALK_END of the sources: arguments, times, and the memory that is walked through. */
const DATA_ADDRESS = 0x10000000, DATA_BYTES = 0x20100000;

/** The whole executable: static, without a library, its functions named for bpftrace. */
export function hitsProgram(arch: "x86_64" | "aarch64"): Uint8Array<ArrayBuffer> {
  const { code, functions } = codes[arch];
  return writeElf({
    arch,
    entry: CODE_ADDRESS,
    segments: [
      { flags: 5, address: CODE_ADDRESS, contents: { section: ".text" } },
      { flags: 6, address: DATA_ADDRESS, contents: { zeroes: DATA_BYTES } },
    ],
    sections: [{ name: ".text", type: 1, flags: 6, address: CODE_ADDRESS, bytes: Uint8Array.fromBase64(code) }],
    symbols: hitKinds.map((kind, i) => ({ name: hitFunction(kind), address: CODE_ADDRESS + functions[i]!, size: 16 })),
  });
}

/** Nanoseconds of each call and of the reading before it, by kind, layer after layer. */
export type CallTimes = Readonly<Record<HitKind, readonly number[]>>;

/** What the program wrote. Null when that is not whole. */
export function callTimes(written: Uint8Array): CallTimes | null {
  const words = Math.floor(written.length / 8);
  const calls = words - 4;
  if (calls < hitKinds.length || calls % (hitKinds.length * LAYER) !== 0) return null;
  const view = new DataView(written.buffer, written.byteOffset, written.byteLength);
  const word = (index: number) => Number(view.getBigUint64(index * 8, true));
  const nsPerTick = (word(words - 1) - word(1)) / (word(words - 2) - word(0));
  if (!(nsPerTick > 0 && nsPerTick < 1e6)) return null;
  const times: Record<HitKind, number[]> = { none: [], nop: [], emulated: [], stepped: [], return: [], printed: [] };
  for (let i = 0; i < calls; i++) times[hitKinds[Math.floor(i / LAYER) % hitKinds.length]!].push(word(2 + i) * nsPerTick);
  return times;
}
