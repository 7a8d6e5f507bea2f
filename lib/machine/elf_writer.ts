/** A part of the file that the kernel loads: the bytes of a section, or memory that is zero. */
export interface ImageSegment {
  /** `PF_X` 1, `PF_W` 2, `PF_R` 4. */
  readonly flags: number;
  /** A multiple of {@link LARGEST_PAGE}. */
  readonly address: number;
  readonly contents: { readonly section: string } | { readonly zeroes: number };
}

export interface ImageSection {
  readonly name: string;
  /** `SHT_PROGBITS` 1, `SHT_NOTE` 7. */
  readonly type: number;
  readonly flags?: number;
  readonly address?: number;
  readonly bytes: Uint8Array;
  /** Where it may begin in the file: a multiple of this. What is loaded begins at a multiple of {@link LARGEST_PAGE}. */
  readonly align?: number;
}

/** A 64-bit little-endian file. */
export interface ElfImage {
  readonly arch: "x86_64" | "aarch64";
  /** An executable begins there; without, it is a shared object. */
  readonly entry?: number;
  readonly segments?: readonly ImageSegment[];
  readonly sections?: readonly ImageSection[];
  /** Functions, for `.symtab`. */
  readonly symbols: readonly { readonly name: string; readonly address: number; readonly size: number }[];
}

/** Of any kernel's (those for aarch64 have 4, 16 or 64 KiB): it loads nothing that begins elsewhere within a page of memory than within one of the file. */
export const LARGEST_PAGE = 0x10000;

const HEADER = 64, SEGMENT = 56, SECTION = 64, SYMBOL = 24;
const MACHINES = { x86_64: 62, aarch64: 183 } as const;
const GLOBAL_FUNCTION = 0x12;
/** `SHN_ABS`: no section's. */
const ABSOLUTE = 0xfff1;

/** Writes the file: headers, the sections in order, then the symbols and all names. */
export function writeElf({ arch, entry, segments = [], sections = [], symbols }: ElfImage): Uint8Array<ArrayBuffer> {
  const strings = new Names(symbols.map(({ name }) => name));
  const table = new Uint8Array(SYMBOL * (symbols.length + 1));
  symbols.forEach(({ name, address, size }, i) => {
    const at = SYMBOL * (i + 1);
    const view = new DataView(table.buffer, at);
    view.setUint32(0, strings.at(name), true);
    table[at + 4] = GLOBAL_FUNCTION;
    const home = sections.findIndex((section) =>
      section.address !== undefined && address >= section.address && address < section.address + section.bytes.length
    );
    view.setUint16(6, home < 0 ? ABSOLUTE : home + 1, true);
    view.setBigUint64(8, BigInt(address), true);
    view.setBigUint64(16, BigInt(size), true);
  });
  const own = sections.length + 1;
  const names = new Names([...sections.map(({ name }) => name), ".symtab", ".strtab", ".shstrtab"]);
  const isLoaded = (name: string) => segments.some(({ contents }) => "section" in contents && contents.section === name);
  const all: (ImageSection & { readonly link?: number; readonly entrySize?: number })[] = [
    ...sections.map((section) => isLoaded(section.name) ? { ...section, align: LARGEST_PAGE } : section),
    { name: ".symtab", type: 2, bytes: table, link: own + 1, entrySize: SYMBOL },
    { name: ".strtab", type: 3, bytes: strings.bytes },
    { name: ".shstrtab", type: 3, bytes: names.bytes },
  ];
  let end = HEADER + SEGMENT * segments.length;
  const offsets = all.map(({ bytes, align = 8 }) => {
    const offset = aligned(end, align);
    end = offset + bytes.length;
    return offset;
  });
  const headersAt = aligned(end, 8);
  const file = new Uint8Array(headersAt + SECTION * (all.length + 1));
  const view = new DataView(file.buffer);
  const put16 = (at: number, ...values: number[]) => values.forEach((value, i) => view.setUint16(at + 2 * i, value, true));
  const put32 = (at: number, ...values: number[]) => values.forEach((value, i) => view.setUint32(at + 4 * i, value, true));
  const put64 = (at: number, ...values: number[]) => values.forEach((value, i) => view.setBigUint64(at + 8 * i, BigInt(value), true));
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  put16(16, entry === undefined ? 3 : 2, MACHINES[arch]);
  put32(20, 1);
  put64(24, entry ?? 0, HEADER, headersAt);
  put16(52, HEADER, SEGMENT, segments.length, SECTION, all.length + 1, all.length);
  segments.forEach(({ flags, address, contents }, i) => {
    const at = HEADER + SEGMENT * i;
    const index = "section" in contents ? all.findIndex(({ name }) => name === contents.section) : -1;
    const inFile = index < 0 ? 0 : all[index]!.bytes.length;
    put32(at, 1, flags);
    put64(at + 8, index < 0 ? 0 : offsets[index]!, address, address, inFile, "zeroes" in contents ? contents.zeroes : inFile, LARGEST_PAGE);
  });
  all.forEach(({ name, type, flags = 0, address = 0, bytes, align = 8, link = 0, entrySize = 0 }, i) => {
    const at = headersAt + SECTION * (i + 1);
    put32(at, names.at(name), type);
    put64(at + 8, flags, address, offsets[i]!, bytes.length);
    // Of symbols, how many are local: the first, which is none.
    put32(at + 40, link, link === 0 ? 0 : 1);
    put64(at + 48, align, entrySize);
    file.set(bytes, offsets[i]!);
  });
  return file;
}

/** Strings one behind the other, each with a NUL, and where each stands. */
class Names {
  readonly bytes: Uint8Array;
  readonly #at = new Map<string, number>();

  constructor(names: readonly string[]) {
    const encoder = new TextEncoder();
    let at = 1;
    for (const name of names) {
      this.#at.set(name, at);
      at += encoder.encode(name).length + 1;
    }
    this.bytes = encoder.encode(`\0${names.map((name) => `${name}\0`).join("")}`);
  }

  at(name: string): number {
    return this.#at.get(name)!;
  }
}

function aligned(offset: number, to: number): number {
  return Math.ceil(offset / to) * to;
}
