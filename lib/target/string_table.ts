import { type ByteReader, type ElfFile, offsetOf, readSection, type Section, SectionType, stringAt, viewOf, wide } from "./elf.ts";
import { findSymbols } from "./symbols.ts";
import { tableUsedBy } from "./table_reference.ts";

/** `R_X86_64_RELATIVE` and `R_AARCH64_RELATIVE`: the loader writes the base address plus the addend. */
const relative = { x86_64: 8, aarch64: 1027, other: -1 } as const;
const relocationSize = 24;
const mostEntries = 4096;
/** A name in ggml's tables; what follows the last one is padding or another table. */
const operatorName = /^[A-Z][A-Z0-9_]*$/;

/**
 * The strings of an array of pointers, in order: `static const char * GGML_OP_NAME[]`. Null when there is no such object or it does not
 * hold pointers to strings.
 */
export async function readPointerTable(elf: ElfFile, symbol: string, named = elf): Promise<string[] | null> {
  const found = (await findSymbols(named, [symbol])).objects.get(symbol);
  if (!found || found.size === 0) return null;
  const count = Math.floor(found.size / 8);
  const names = await readStrings(elf, found.value, Math.min(count, mostEntries), () => true);
  return names.length === count ? names : null;
}

/**
 * Operator names of a ggml library in the order of their ids, which differ between versions: from the table's own symbol, or, where that
 * was stripped, from the address that the exported `ggml_op_name` uses. The second way does not know the table's length and may return
 * more names than there are ids; no id points at those.
 */
export async function readOperatorNames(elf: ElfFile, named?: ElfFile): Promise<string[] | null> {
  const table = await readPointerTable(elf, "GGML_OP_NAME", named);
  if (table) return table;
  const { functions } = await findSymbols(elf, ["ggml_op_name"]);
  const getter = functions.get("ggml_op_name");
  const at = getter && offsetOf(elf, getter.value);
  if (getter === undefined || at === null || at === undefined) return null;
  const code = await elf.read(at, 48);
  const address = code && tableUsedBy(elf.machine, code, getter.value);
  if (!address) return null;
  const names = await readStrings(elf, address, mostEntries, (name) => operatorName.test(name));
  // The first operator of every version: a self-test of what was decoded.
  return names[0] === "NONE" ? names : null;
}

/** How ggml's table begins in every version, and the least that it has. */
const FIRST = ["NONE", "DUP", "ADD"], LEAST = 40;
/** Bytes that are looked through, of constants and of relocations each, and places that are followed: a hostile file may claim any number. */
const MOST_BYTES = 64 << 20, MOST_PLACES = 64;

/** The same where no symbol leads to it: of all pointers to a `NONE`, that behind which the others follow. */
export async function searchOperatorNames(elf: ElfFile): Promise<string[] | null> {
  const constants = await readAll(elf.read, elf.sections.filter(({ name, type }) => type === SectionType.progbits && /^\.(ro)?data/.test(name)));
  const none = new Set<number>(), places: number[] = [];
  for (const { address, view } of constants) {
    for (let at = 0; at + 5 <= view.byteLength; at++) {
      if (view.getUint32(at) === 0x4e4f4e45 && view.getUint8(at + 4) === 0) none.add(address + at);
    }
  }
  if (none.size === 0) return null;
  for (const { address, view } of constants) {
    for (let at = 0; at + 8 <= view.byteLength; at += 8) if (none.has(wide(view, at))) places.push(address + at);
  }
  for (const { view } of await readAll(elf.read, elf.sections.filter(({ type }) => type === SectionType.rela))) {
    for (let at = 0; at + relocationSize <= view.byteLength; at += relocationSize) if (none.has(wide(view, at + 16))) places.push(wide(view, at));
  }
  for (const place of places.slice(0, MOST_PLACES)) {
    const names = await readStrings(elf, place, mostEntries, (name) => operatorName.test(name));
    if (names.length >= LEAST && FIRST.every((name, i) => names[i] === name)) return names;
  }
  return null;
}

async function readAll(read: ByteReader, sections: readonly Section[]): Promise<{ address: number; view: DataView }[]> {
  const found: { address: number; view: DataView }[] = [];
  let bytes = 0;
  for (const section of sections) {
    if ((bytes += section.size) > MOST_BYTES) break;
    const view = viewOf(await readSection(read, section));
    if (view) found.push({ address: section.address, view });
  }
  return found;
}

/** Follows up to `count` pointers from `address` and ends at the first that is none or whose string is refused. */
async function readStrings(elf: ElfFile, address: number, count: number, accepts: (name: string) => boolean): Promise<string[]> {
  const at = offsetOf(elf, address);
  if (at === null) return [];
  const [addends, words] = await Promise.all([readAddends(elf, address, address + count * 8), elf.read(at, count * 8)]);
  const inFile = viewOf(words);
  const pointers: number[] = [];
  for (let i = 0; i < count; i++) {
    // Packed relocations (.relr.dyn), and files loaded where they were linked, keep the address in the word itself.
    const pointer = addends.get(address + i * 8) ?? (inFile && i * 8 + 8 <= inFile.byteLength ? wide(inFile, i * 8) : 0);
    if (!(pointer > 0)) break;
    pointers.push(pointer);
  }
  return await stringsAt(elf, pointers, accepts);
}

/** The strings of one table lie close together, so one read brings all of them. */
async function stringsAt({ sections, read }: ElfFile, pointers: readonly number[], accepts: (name: string) => boolean): Promise<string[]> {
  const section = sections.find(({ address, size }) => pointers[0]! >= address && pointers[0]! < address + size && address > 0);
  const bytes = await readSection(read, section);
  if (!section || !bytes) return [];
  const names: string[] = [];
  for (const pointer of pointers) {
    const name = pointer < section.address ? null : stringAt(bytes, pointer - section.address);
    if (name === null || !accepts(name)) break;
    names.push(name);
  }
  return names;
}

/** Address → what a relative relocation writes there, for addresses in [from, to). */
async function readAddends({ machine, sections, read }: ElfFile, from: number, to: number): Promise<Map<number, number>> {
  const addends = new Map<number, number>();
  for (const section of sections) {
    if (section.type !== SectionType.rela) continue;
    const view = viewOf(await readSection(read, section));
    if (!view) continue;
    for (let at = 0; at + relocationSize <= view.byteLength; at += relocationSize) {
      const place = wide(view, at);
      if (place >= from && place < to && view.getUint32(at + 8, true) === relative[machine]) addends.set(place, wide(view, at + 16));
    }
  }
  return addends;
}
