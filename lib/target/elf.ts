import type { KernelFiles } from "../machine/files.ts";

/** `length` bytes of a file from `offset`, fewer at its end; null when it cannot be read. */
export type ByteReader = (offset: number, length: number) => Promise<Uint8Array | null>;

export interface Section {
  readonly name: string;
  readonly type: number;
  readonly address: number;
  readonly offset: number;
  readonly size: number;
  /** Index of the section that belongs to it: of a symbol table, its strings. */
  readonly link: number;
}

export interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  /** Bytes in the file. */
  readonly size: number;
}

export interface Elf {
  readonly machine: "x86_64" | "aarch64" | "other";
  readonly sections: readonly Section[];
  readonly segments: readonly Segment[];
}

/** The headers with a way to read the rest. */
export interface ElfFile extends Elf {
  readonly read: ByteReader;
}

export const SectionType = { progbits: 1, symtab: 2, rela: 4, note: 7, dynsym: 11 } as const;
const LOADED_SEGMENT = 1;

/** A header table of a real file has a few dozen entries; a hostile one may claim billions. */
const mostHeaders = 65_536;
/** Largest table that is read as a whole: libtorch's names are some 60 MB. */
const largestTable = 1 << 30;

/** Reads a file through the port. */
export function fileReader(files: KernelFiles, path: string): ByteReader {
  return (offset, length) => files.bytes(path, offset, length);
}

/**
 * Reads the headers of a 64-bit little-endian ELF file: three or four short reads whatever its size. Null for anything else and for headers
 * that lead out of the file. Addresses and sizes above 2^53 are taken for damage.
 */
export async function readElf(read: ByteReader): Promise<ElfFile | null> {
  const head = viewOf(await read(0, 64));
  if (!head || head.byteLength < 64) return null;
  // 7f 'E' 'L' 'F', 64-bit, little-endian.
  if (head.getUint32(0) !== 0x7f454c46 || head.getUint16(4) !== 0x0201) return null;
  const segments = await readSegments(read, wide(head, 32), head.getUint16(54, true), head.getUint16(56, true));
  const sections = await readSections(read, wide(head, 40), head.getUint16(58, true), head.getUint16(60, true), head.getUint16(62, true));
  if (!segments || !sections) return null;
  const machine = head.getUint16(18, true);
  return { machine: machine === 62 ? "x86_64" : machine === 183 ? "aarch64" : "other", segments, sections, read };
}

/** Where in the file the byte is that is loaded at `address`; null when no part of the file is. A uprobe lives at this offset. */
export function offsetOf(elf: Elf, address: number): number | null {
  for (const { type, offset, address: start, size } of elf.segments) {
    if (type === LOADED_SEGMENT && address >= start && address < start + size) return address - start + offset;
  }
  return null;
}

/** The bytes of a section; null when it is not in the file, too large, or cut short. */
export async function readSection(read: ByteReader, section: Section | undefined): Promise<Uint8Array | null> {
  if (!section || section.size > largestTable) return null;
  const bytes = await read(section.offset, section.size);
  return bytes && bytes.length === section.size ? bytes : null;
}

/** The zero-terminated string at `at`; null when it leads out of `bytes` or is longer than any path: a hostile file may overlap long ones. */
export function stringAt(bytes: Uint8Array, at: number): string | null {
  const window = bytes.subarray(at, at + 4097);
  const end = window.indexOf(0);
  return end < 0 ? null : new TextDecoder().decode(window.subarray(0, end));
}

/** A 64-bit number; NaN, which fails every comparison, when it is too large to be true. */
export function wide(view: DataView, at: number): number {
  const value = view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
  return Number.isSafeInteger(value) ? value : NaN;
}

export function viewOf(bytes: Uint8Array | null): DataView | null {
  return bytes && new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

async function readTable(read: ByteReader, offset: number, entry: number, count: number, smallest: number): Promise<DataView | null> {
  if (!(offset >= 0) || entry < smallest || count > mostHeaders) return null;
  const view = viewOf(await read(offset, entry * count));
  return view && view.byteLength === entry * count ? view : null;
}

async function readSegments(read: ByteReader, offset: number, entry: number, count: number): Promise<Segment[] | null> {
  if (count === 0) return [];
  const view = await readTable(read, offset, entry, count, 56);
  if (!view) return null;
  const segments: Segment[] = [];
  for (let at = 0; at < view.byteLength; at += entry) {
    segments.push({ type: view.getUint32(at, true), offset: wide(view, at + 8), address: wide(view, at + 16), size: wide(view, at + 32) });
  }
  return segments;
}

async function readSections(read: ByteReader, offset: number, entry: number, count: number, names: number): Promise<Section[] | null> {
  if (offset === 0) return [];
  // More than 65 279 sections: the true numbers stand in the first section.
  const first = count === 0 || names === 0xffff ? viewOf(await read(offset, 64)) : null;
  if (first && first.byteLength < 64) return null;
  if (first && count === 0) count = wide(first, 32);
  if (first && names === 0xffff) names = first.getUint32(40, true);
  if (!(count > 0)) return null;
  const view = await readTable(read, offset, entry, count, 64);
  if (!view) return null;
  const at = (index: number) => index * entry;
  const nameAt = names < count ? at(names) : 0;
  const strings = await read(wide(view, nameAt + 24) || 0, Math.min(wide(view, nameAt + 32) || 0, 1 << 24));
  return Array.from({ length: count }, (_, index): Section => ({
    name: stringAt(strings ?? new Uint8Array(), view.getUint32(at(index), true)) ?? "",
    type: view.getUint32(at(index) + 4, true),
    address: wide(view, at(index) + 16),
    offset: wide(view, at(index) + 24),
    size: wide(view, at(index) + 32),
    link: view.getUint32(at(index) + 40, true),
  }));
}
