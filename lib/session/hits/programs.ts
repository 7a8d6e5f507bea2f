import { writeElf } from "../../machine/elf_writer.ts";

/** Kinds of calls that the program makes in turn, in the order in which it writes their times. `none` carries no probe. */
export const hitKinds = ["none", "nop", "emulated", "stepped", "return", "printed"] as const;
export type HitKind = (typeof hitKinds)[number];

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
      "vwAAABDGBwCBxwAQAACB/wAA0BNy7zHAMf++gAAAELoBAAAADwW/AQAAADn4D4WUAAAAvQAAAhBBvOgDAABBvgAAEBBBvwAQABDo5gAAAOh6AAAA6BcBAADotgAAAOhrAAAA6BgBAADopwAAAOhcAAAA6BkBAADomAAAAOhNAAAA6BoBAADoiQAAAOg+AAAA6BsBAADoegAAAOgvAAAA6BwBAADoawAAAEH/zHWh6IIAAAC4AQAAAInHvgAAAhCJ6inyDwUx/7g8AAAADwW5ACAAAEkDBkmDxkD/yXX1SYH+AADQE3IGQb4AABAQSYHHUAEAAEmB/4ABARByBkG/ABAAEL8AAAAQTIn+6BUAAABIicPD6AwAAABIKdhIiUUASIPFCMMPrugPMQ+u6EjB4iBICdDD6Ov///9IiUUAuOQAAAC/AQAAAEiNdQgPBUhpRQgAypo7SANFEEiJRQhIg8UQw2ZmLg8fhAAAAAAAZpBVXcNmZi4PH4QAAAAAAGaQDx9EAADDZi4PH4QAAAAAAFVdw2ZmLg8fhAAAAAAAZpDzDx76w2ZmLg8fhAAAAAAAVV3DZmYuDx+EAAAAAABmkFVdw2ZmLg8fhAAAAAAAZpA=",
    functions: [0x170, 0x180, 0x190, 0x1a0, 0x1b0, 0x1c0],
  },
  aarch64: {
    code:
      "AACA0gAAovIBAIDSAXqi8h8AADkABECRHwAB66P//1QAAIDSARCA0gEAovIiAIDS6AeA0gEAANQfBADxoQQAVBMAgNJTAKLyFH2A0hUAgNIVAqLyFgCC0hYAovI9AACUHgAAlEsAAJQ0AACUGwAAlEwAAJQxAACUGAAAlE0AAJQuAACUFQAAlE4AAJQrAACUEgAAlE8AAJQoAACUDwAAlFAAAJQlAACUlAYA8aH9/1QoAACUIACA0gEAgNJBAKLyYgIBywgIgNIBAADUAACA0qgLgNIBAADUCQCE0qoGRPgpBQDxwf//VAoAgNIKeqLyvwIK62MAAFQVAIDSFQKi8tZCBZEKMIDSKgCi8t8CCutjAABUFgCC0hYAovIAAIDSAACi8uEDFqrfPwPVV+A71d8/A9XAA1/W3z8D1UrgO9XfPwPVSgEXy2qGAPjAA1/W3z8D1UrgO9VqAgD5KA6A0iAAgNJhIgCRAQAA1GquQKkMQJnSTHOn8kotDJtqBgD5c0IAkcADX9YfIAPVHyAD1R8gA9XAA1/WHyAD1R8gA9UfIAPVwANf1h8gA9UfIAPVAQAAFMADX9YfIAPVHyAD1V8kA9UfIAPVwANf1h8gA9UBAAAUwANf1h8gA9UfIAPVAQAAFMADX9YfIAPVHyAD1Q==",
    functions: [0x190, 0x1a0, 0x1b0, 0x1c0, 0x1d0, 0x1e0],
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
  if (calls < hitKinds.length || calls % hitKinds.length !== 0) return null;
  const view = new DataView(written.buffer, written.byteOffset, written.byteLength);
  const word = (index: number) => Number(view.getBigUint64(index * 8, true));
  const nsPerTick = (word(words - 1) - word(1)) / (word(words - 2) - word(0));
  if (!(nsPerTick > 0 && nsPerTick < 1e6)) return null;
  const times: Record<HitKind, number[]> = { none: [], nop: [], emulated: [], stepped: [], return: [], printed: [] };
  for (let i = 0; i < calls; i++) times[hitKinds[i % hitKinds.length]!].push(word(2 + i) * nsPerTick);
  return times;
}
