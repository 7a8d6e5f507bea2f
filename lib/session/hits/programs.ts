/** Kinds of calls that the program makes in turn, in the order in which it writes their times. `none` carries no probe. */
export const hitKinds = ["none", "nop", "emulated", "stepped", "return"] as const;
export type HitKind = (typeof hitKinds)[number];

/** Name of the function in the program's symbol table. */
export function hitFunction(kind: HitKind): string {
  return `hit_${kind}`;
}

interface Code {
  /** `e_machine` of ELF. */
  readonly machine: number;
  readonly code: string;
  /** Offsets of the functions in the code, in the order of {@link hitKinds}. */
  readonly functions: readonly number[];
}

/** Assembled from x86_64.s and aarch64.s beside this file, which explain themselves. */
export const codes: Readonly<Record<"x86_64" | "aarch64", Code>> = {
  x86_64: {
    machine: 62,
    code:
      "vwAAABDGBwCBxwAQAACB/wAA0BNy7zHAMf++gAAAELoBAAAADwW/AQAAADn4D4WFAAAAvQAAAhBBvOgDAABBvgAAEBBBvwAQABDo1wAAAOhrAAAA6AcBAADopwAAAOhcAAAA6AgBAADomAAAAOhNAAAA6AkBAADoiQAAAOg+AAAA6AoBAADoegAAAOgvAAAA6AsBAADoawAAAEH/zHWw6IIAAAC4AQAAAInHvgAAAhCJ6inyDwUx/7g8AAAADwW5ACAAAEkDBkmDxkD/yXX1SYH+AADQE3IGQb4AABAQSYHHUAEAAEmB/4ABARByBkG/ABAAEL8AAAAQTIn+6BUAAABIicPD6AwAAABIKdhIiUUASIPFCMMPrugPMQ+u6EjB4iBICdDD6Ov///9IiUUAuOQAAAC/AQAAAEiNdQgPBUhpRQgAypo7SANFEEiJRQhIg8UQw2ZmLg8fhAAAAAAAkFVdw2ZmLg8fhAAAAAAAZpAPH0QAAMNmLg8fhAAAAAAAVV3DZmYuDx+EAAAAAABmkPMPHvrDZmYuDx+EAAAAAADzDx76w2ZmLg8fhAAAAAAA",
    functions: [0x160, 0x170, 0x180, 0x190, 0x1a0],
  },
  aarch64: {
    machine: 183,
    code:
      "AACA0gAAovIBAIDSAXqi8h8AADkABECRHwAB66P//1QAAIDSARCA0gEAovIiAIDS6AeA0gEAANQfBADxQQQAVBMAgNJTAKLyFH2A0hUAgNIVAqLyFgCC0hYAovI6AACUGwAAlEcAAJQxAACUGAAAlEgAAJQuAACUFQAAlEkAAJQrAACUEgAAlEoAAJQoAACUDwAAlEsAAJQlAACUlAYA8QH+/1QoAACUIACA0gEAgNJBAKLyYgIBywgIgNIBAADUAACA0qgLgNIBAADUCQCE0qoGRPgpBQDxwf//VAoAgNIKeqLyvwIK62MAAFQVAIDSFQKi8tZCBZEKMIDSKgCi8t8CCutjAABUFgCC0hYAovIAAIDSAACi8uEDFqrfPwPVV+A71d8/A9XAA1/W3z8D1UrgO9XfPwPVSgEXy2qGAPjAA1/W3z8D1UrgO9VqAgD5KA6A0iAAgNJhIgCRAQAA1GquQKkMQJnSTHOn8kotDJtqBgD5c0IAkcADX9YfIAPVHyAD1cADX9YfIAPVHyAD1R8gA9XAA1/WHyAD1R8gA9UBAAAUwANf1h8gA9UfIAPVXyQD1cADX9YfIAPVHyAD1V8kA9XAA1/WHyAD1R8gA9U=",
    functions: [0x180, 0x190, 0x1a0, 0x1b0, 0x1c0],
  },
};

const CODE_ADDRESS = 0x400000;
const CODE_OFFSET = 0x1000;
/** DATA to WALK_END of the sources: arguments, times, and the memory that is walked through. */
const DATA_ADDRESS = 0x10000000, DATA_BYTES = 0x3d00000;

/** The whole executable: static, without a library, its functions named for bpftrace. */
export function hitsProgram(arch: "x86_64" | "aarch64"): Uint8Array<ArrayBuffer> {
  const { machine, code, functions } = codes[arch];
  const text = Uint8Array.fromBase64(code);
  const strings = new TextEncoder().encode(`\0${hitKinds.map(hitFunction).join("\0")}\0`);
  const names = new TextEncoder().encode("\0.text\0.symtab\0.strtab\0.shstrtab\0");
  const symbolsAt = align(CODE_OFFSET + text.length, 8);
  const symbolBytes = (hitKinds.length + 1) * 24;
  const stringsAt = symbolsAt + symbolBytes;
  const namesAt = stringsAt + strings.length;
  const sectionsAt = align(namesAt + names.length, 8);
  const file = new Uint8Array(sectionsAt + 5 * 64);
  const view = new DataView(file.buffer);
  const put16 = (at: number, ...values: number[]) => values.forEach((value, i) => view.setUint16(at + 2 * i, value, true));
  const put32 = (at: number, ...values: number[]) => values.forEach((value, i) => view.setUint32(at + 4 * i, value, true));
  const put64 = (at: number, ...values: number[]) => values.forEach((value, i) => view.setBigUint64(at + 8 * i, BigInt(value), true));
  // ELF header: 64 bits, little-endian; an executable at fixed addresses.
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  put16(16, 2, machine);
  put32(20, 1);
  put64(24, CODE_ADDRESS, 64, sectionsAt);
  put16(52, 64, 56, 2, 64, 5, 4);
  const segment = (index: number, flags: number, [offset, address, inFile, inMemory]: readonly [number, number, number, number]) => {
    const at = 64 + 56 * index;
    put32(at, 1, flags);
    put64(at + 8, offset, address, address, inFile, inMemory, 0x10000);
  };
  segment(0, 5, [CODE_OFFSET, CODE_ADDRESS, text.length, text.length]);
  segment(1, 6, [0, DATA_ADDRESS, 0, DATA_BYTES]);
  const section = (index: number, name: string, type: number, flags: number, [address, offset, size]: readonly number[], link = 0, entry = 0) => {
    const at = sectionsAt + 64 * index;
    put32(at, new TextDecoder().decode(names).indexOf(`\0${name}\0`) + 1, type);
    put64(at + 8, flags, address!, offset!, size!);
    put32(at + 40, link, type === 2 ? 1 : 0);
    put64(at + 48, 8, entry);
  };
  section(1, ".text", 1, 6, [CODE_ADDRESS, CODE_OFFSET, text.length]);
  section(2, ".symtab", 2, 0, [0, symbolsAt, symbolBytes], 3, 24);
  section(3, ".strtab", 3, 0, [0, stringsAt, strings.length]);
  section(4, ".shstrtab", 3, 0, [0, namesAt, names.length]);
  hitKinds.forEach((kind, i) => {
    const at = symbolsAt + 24 * (i + 1);
    put32(at, new TextDecoder().decode(strings).indexOf(`\0${hitFunction(kind)}\0`) + 1);
    // A global function of the first section.
    file[at + 4] = 0x12;
    put16(at + 6, 1);
    put64(at + 8, CODE_ADDRESS + functions[i]!, 16);
  });
  file.set(text, CODE_OFFSET);
  file.set(strings, stringsAt);
  file.set(names, namesAt);
  return file;
}

function align(offset: number, to: number): number {
  return Math.ceil(offset / to) * to;
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
  const times: Record<HitKind, number[]> = { none: [], nop: [], emulated: [], stepped: [], return: [] };
  for (let i = 0; i < calls; i++) times[hitKinds[i % hitKinds.length]!].push(word(2 + i) * nsPerTick);
  return times;
}
