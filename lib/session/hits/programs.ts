import { writeElf } from "../../machine/elf_writer.ts";

/** Kinds of calls that the program makes, in the order in which it writes their times: so many of each in a row. `none` carries no probe. */
export const hitKinds = ["none", "nop", "emulated", "stepped", "return", "printed"] as const;
export type HitKind = (typeof hitKinds)[number];
const REPEAT = 20;

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
      "vwAAABDGBwCBxwAQAACB/wAA0BNy7zHAMf++gAAAELoBAAAADwW/AQAAADn4D4XaAAAAvQAAAhBBvDIAAABBvgAAEBBBvwAQABDoLAEAAEG9FAAAAOi6AAAA6FEBAADo9gAAAEH/zXXsQb0UAAAA6KAAAADoRwEAAOjcAAAAQf/NdexBvRQAAADohgAAAOg9AQAA6MIAAABB/8117EG9FAAAAOhsAAAA6DMBAADoqAAAAEH/zXXsQb0UAAAA6FIAAADoKQEAAOiOAAAAQf/NdexBvRQAAADoOAAAAOgfAQAA6HQAAABB/8117EH/zA+FW////+iCAAAAuAEAAACJx74AAAIQieop8g8FMf+4PAAAAA8FuQBgAABJAwZJg8ZA/8l19UmB/gAA0BNyBkG+AAAQEEmBx1ABAABJgf+AAQEQcgZBvwAQABC/AAAAEEyJ/ugVAAAASInDw+gMAAAASCnYSIlFAEiDxQjDD67oDzEPruhIweIgSAnQw+jr////SIlFALjkAAAAvwEAAABIjXUIDwVIaUUIAMqaO0gDRRBIiUUISIPFEMMPH4AAAAAAVV3DZmYuDx+EAAAAAABmkA8fRAAAw2YuDx+EAAAAAABVXcNmZi4PH4QAAAAAAGaQ8w8e+sNmZi4PH4QAAAAAAFVdw2ZmLg8fhAAAAAAAZpBVXcNmZi4PH4QAAAAAAGaQ",
    functions: [0x1b0, 0x1c0, 0x1d0, 0x1e0, 0x1f0, 0x200],
  },
  aarch64: {
    code:
      "AACA0gAAovIBAIDSAXqi8h8AADkABECRHwAB66P//1QAAIDSARCA0gEAovIiAIDS6AeA0gEAANQfBADx4QYAVBMAgNJTAKLyVAaA0hUAgNIVAqLyFgCC0hYAovJPAACUmAKA0i8AAJRaAACURQAAlBgHAPGB//9UmAKA0ikAAJRYAACUPwAAlBgHAPGB//9UmAKA0iMAAJRWAACUOQAAlBgHAPGB//9UmAKA0h0AAJRUAACUMwAAlBgHAPGB//9UmAKA0hcAAJRSAACULQAAlBgHAPGB//9UmAKA0hEAAJRQAACUJwAAlBgHAPGB//9UlAYA8WH7/1QoAACUIACA0gEAgNJBAKLyYgIBywgIgNIBAADUAACA0qgLgNIBAADUCQCM0qoGRPgpBQDxwf//VAoAgNIKeqLyvwIK62MAAFQVAIDSFQKi8tZCBZEKMIDSKgCi8t8CCutjAABUFgCC0hYAovIAAIDSAACi8uEDFqrfPwPVV+A71d8/A9XAA1/W3z8D1UrgO9XfPwPVSgEXy2qGAPjAA1/W3z8D1UrgO9VqAgD5KA6A0iAAgNJhIgCRAQAA1GquQKkMQJnSTHOn8kotDJtqBgD5c0IAkcADX9YfIAPVwANf1h8gA9UfIAPVHyAD1cADX9YfIAPVHyAD1QEAABTAA1/WHyAD1R8gA9VfJAPVHyAD1cADX9YfIAPVAQAAFMADX9YfIAPVHyAD1QEAABTAA1/WHyAD1R8gA9U=",
    functions: [0x1d0, 0x1e0, 0x1f0, 0x200, 0x210, 0x220],
  },
};

const CODE_ADDRESS = 0x400000;
/** DATA to WALK_END of the sources: arguments, times, and the memory that is walked through. */
const DATA_ADDRESS = 0x10000000, DATA_BYTES = 0x3d00000;

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
    sections: [{ name: ".text", type: 1, flags: 6, address: CODE_ADDRESS, bytes: Uint8Array.fromBase64(code), align: 0x1000 }],
    symbols: hitKinds.map((kind, i) => ({ name: hitFunction(kind), address: CODE_ADDRESS + functions[i]!, size: 16 })),
  });
}

/** Nanoseconds of each call, by kind: what the program wrote. Null when that is not whole. */
export function callTimes(written: Uint8Array): Readonly<Record<HitKind, readonly number[]>> | null {
  const words = Math.floor(written.length / 8);
  const calls = words - 4;
  if (calls < hitKinds.length || calls % (hitKinds.length * REPEAT) !== 0) return null;
  const view = new DataView(written.buffer, written.byteOffset, written.byteLength);
  const word = (index: number) => Number(view.getBigUint64(index * 8, true));
  const nsPerTick = (word(words - 1) - word(1)) / (word(words - 2) - word(0));
  if (!(nsPerTick > 0 && nsPerTick < 1e6)) return null;
  const times: Record<HitKind, number[]> = { none: [], nop: [], emulated: [], stepped: [], return: [], printed: [] };
  for (let i = 0; i < calls; i++) times[hitKinds[Math.floor(i / REPEAT) % hitKinds.length]!].push(word(2 + i) * nsPerTick);
  return times;
}
