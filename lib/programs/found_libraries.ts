import { dirname } from "node:path";
import type { KernelFiles } from "../machine/files.ts";
import type { FilesOnce } from "../machine/files_once.ts";
import { BUILD_ID_SECTION } from "../machine/symbol_tables.ts";
import { readDebugFile } from "../target/build_id.ts";
import { type ByteReader, type Elf, type ElfFile, readElf, readSection, SectionType } from "../target/elf.ts";
import { filesBelow } from "../target/file_below.ts";
import { isLoader, loadedBy } from "../target/loader.ts";
import { mappedFile, mappedReader } from "../target/mapped_file.ts";
import { fileKey, hasOwnDevice, libraries, type Library, parseMaps, withoutDeleted } from "../target/maps.ts";
import { wordsOf } from "../target/process.ts";
import { readOperatorNames, searchOperatorNames } from "../target/string_table.ts";
import { type ElfSymbol, findSymbols, type Wanted } from "../target/symbols.ts";
import type { LibraryNeed, Needed } from "./probe.ts";

/** A library as a process has it mapped, with the functions that were asked for. */
export interface FoundLibrary {
  /** Identity of the file: a uprobe lives on it, whatever the process. */
  readonly key: string;
  /** As the process's `maps` tell it. */
  readonly dev: number;
  readonly inode: number;
  /** File name without its folders. */
  readonly name: string;
  /** Path in the target's own mount namespace. */
  readonly path: string;
  /** A path through which bpftrace reaches this very file. */
  readonly file: string;
  readonly elf: ElfFile;
  /** Content of the section of that name. */
  readonly buildId: Uint8Array | null;
  readonly functions: ReadonlyMap<string, ElfSymbol>;
  /** The program itself: what is linked into it is there from its first instruction on. */
  readonly isProgram: boolean;
  /** It has another name: the library is linked into it, with what calls it. */
  readonly isPart: boolean;
}

/** Where {@link findLibraries} does not look. */
export interface Unlooked {
  /** Programs, by their paths, and libraries, by their keys, that are known to have nothing linked into them. Libraries in which nothing is found are added. */
  readonly plain?: Set<string>;
  /** Libraries that the process has mapped by their names: only what is linked into the program is asked for. */
  readonly named?: boolean;
  /** The program, and what a library exports: functions that a library keeps to itself are asked for. */
  readonly internal?: boolean;
  /** Somebody stands and waits: libraries of other names, of which there may be many, are not looked into where one may be linked into them `alone`. */
  readonly quick?: boolean;
  /** But for the one of this number, which it has just mapped. */
  readonly inode?: number;
}

/** Of a need, what is looked for. `least`: what is enough where a library has not all of `symbols`. */
export type Sought = Pick<LibraryNeed, "prefix" | "formerly" | "symbols" | "apart" | "inside"> & { readonly least?: Needed };

/** The least that another library takes which is linked into one: CUDA's runtime alone takes more. */
export const LEAST_INSIDE = 512 << 10;
/** Bytes of all symbol tables of a library into which an engine is linked: libtorch's are larger, and take a second to read. */
const LARGEST_TABLES = 4 << 20;

/**
 * The libraries of a process that a probe can work with: the name fits (or it is the program itself, linked statically, or a library into which that one
 * may be linked) and the functions are there.
 */
export async function findLibraries(
  files: FilesOnce,
  pid: number,
  need: Sought,
  symbols: Wanted,
  without: Unlooked = {},
): Promise<FoundLibrary[]> {
  const { mapped, exe } = await readMapped(files, pid);
  const named = mapped.filter(({ name }) => name.startsWith(need.prefix));
  // Without such a library, it may be one of an older name, or linked into the program.
  const older = mapped.filter(({ name }) => need.formerly !== undefined && name.startsWith(need.formerly) && !without.named);
  const linked = mapped.filter(({ path }) => path === exe && !without.plain?.has(path) && !without.internal && !need.apart);
  const candidates = named.length === 0 ? [...older, ...linked] : without.named ? [] : named;
  const isPlain = (library: Library) => without.plain?.has(library.path) || without.plain?.has(fileKey(library));
  const mayHold = (library: Library) => library.bytes >= LEAST_INSIDE && !candidates.includes(library) && !isPlain(library);
  const isAny = !without.named && !(need.inside === "alone" && without.quick);
  const around = need.symbols.length > 0 && need.inside ? mapped.filter((one) => (isAny || one.inode === without.inode) && mayHold(one)) : [];
  const found = async (library: Library, inside?: LibraryNeed["inside"]): Promise<FoundLibrary | null> => {
    const { name, path, dev, inode } = library;
    const key = await keyOf(files, pid, mapped, library);
    const read = mappedReader(files, pid, library, key);
    const isProgram = path === exe;
    const how = inside ?? (without.internal ? "internal" : isProgram ? "program" : "offered");
    const looked = await files.made(["functions", key, how, need, symbols], () => lookInto(files, pid, read, how, need, symbols));
    if (!looked?.functions) {
      if (looked && inside) without.plain?.add(fileKey(library));
      return null;
    }
    const { headers, functions, buildId } = looked;
    const elf = { ...headers, read };
    return { key, dev, inode, name, path, file: mappedFile(pid, library), elf, buildId, functions, isProgram, isPart: !isCalledSo(need, name) };
  };
  const all = async (libraries: readonly Library[], inside?: LibraryNeed["inside"]) => {
    return (await Promise.all(libraries.map((library) => found(library, inside)))).filter((library) => library !== null);
  };
  const own = await all(candidates);
  if (need.inside === "alone" && (own.length > 0 || named.length > 0)) return own;
  return [...own, ...await all(around, need.inside)];
}

/** What a file has, the same for each process that has it mapped. */
interface Looked {
  readonly headers: Elf;
  readonly functions: FoundLibrary["functions"] | null;
  readonly buildId: Uint8Array | null;
}

/** Null where nothing is found and another process may see more: not all could be read, or a debug file may be in the root of another. */
async function lookInto(
  files: FilesOnce,
  pid: number,
  reader: ByteReader,
  how: "program" | "offered" | "internal" | "kept" | "alone",
  need: Sought,
  symbols: Wanted,
): Promise<Looked | null> {
  let isWhole = true;
  const read: ByteReader = async (offset, length) => {
    const bytes = await reader(offset, length);
    // What a damaged table asks for is nowhere, whoever reads it.
    isWhole &&= bytes !== null || !(offset >= 0 && length > 0);
    return bytes;
  };
  const elf = await readElf(read);
  if (!elf) return null;
  const isInside = how === "kept" || how === "alone";
  const functions = isInside
    ? await findInside(elf, how, need, symbols)
    : how === "internal"
    ? (await findSymbols(elf, symbols)).functions
    : await findFunctions(elf, how === "program", () => readDebugFile(files, pid, elf), need, symbols);
  const buildId = functions && await readSection(read, elf.sections.find(({ name, size }) => name === BUILD_ID_SECTION && size < 65_536));
  return functions || (isWhole && isInside) ? { headers: elf, functions, buildId } : null;
}

/** See {@link FoundLibrary.key}. What a process has mapped of such files is asked for at once, and only where one of them matters. */
export async function keyOf(files: FilesOnce, pid: number, mapped: readonly Library[], library: Library): Promise<string> {
  if (hasOwnDevice(library)) return fileKey(library);
  const seen = mapped.filter((one) => !hasOwnDevice(one)).map((one) => ({ path: one.path, file: mappedFile(pid, one) }));
  const below = await files.made([`below ${pid}`], () => filesBelow(files, pid, seen));
  return below.get(mappedFile(pid, library)) ?? fileKey(library);
}

/** Whether a file has the library's name, of today or of before. */
export function isCalledSo({ prefix, formerly = prefix }: Pick<LibraryNeed, "prefix" | "formerly">, name: string): boolean {
  return name.startsWith(prefix) || name.startsWith(formerly);
}

/** Whether a program has these functions linked into it, as far as it or its debug file tells. */
export async function isLinked(files: KernelFiles, program: ElfFile, need: Sought, symbols: Wanted): Promise<boolean> {
  return await findFunctions(program, true, () => readDebugFile(files, null, program), need, symbols) !== null;
}

/** Files of which a process has executable pages, and its program. */
export function readMapped(files: FilesOnce, pid: number): Promise<{ mapped: Library[]; exe: string | null }> {
  return files.made([`mapped ${pid}`], async () => {
    const [maps, exe] = await Promise.all([files.text(`/proc/${pid}/maps`), files.link(`/proc/${pid}/exe`)]);
    const mapped = libraries(parseMaps(maps ?? ""));
    return { mapped, exe: exe && await programOf(files, pid, mapped, withoutDeleted(exe)) };
  });
}

/** Of `ld.so ./engine` it is the engine, as soon as that is mapped. */
async function programOf(files: FilesOnce, pid: number, mapped: readonly Library[], exe: string): Promise<string> {
  if (!isLoader(exe)) return exe;
  const loaded = loadedBy(wordsOf(await files.text(`/proc/${pid}/cmdline`) ?? ""));
  return mapped.find(({ name }) => name === loaded)?.path ?? exe;
}

/**
 * A library exports what others call, in the short table that `strip` leaves; what is linked into the program may be in the long table only,
 * and where that was stripped, in a debug file. Null unless what is needed is there.
 */
async function findFunctions(
  elf: ElfFile,
  isProgram: boolean,
  readDebug: () => Promise<ElfFile | null>,
  need: Sought,
  others: Wanted,
): Promise<ReadonlyMap<string, ElfSymbol> | null> {
  const wanted = [...need.symbols.flat(), ...others];
  const own = (await findSymbols(elf, wanted, isProgram ? "all" : "exported")).functions;
  if (hasAll(own, need.symbols)) return own;
  const long = isProgram ? own : (await findSymbols(elf, wanted)).functions;
  if (hasAll(long, need.symbols)) return long;
  const debug = await readDebug();
  const separate = debug && (await findSymbols(debug, wanted)).functions;
  if (separate && hasAll(separate, need.symbols)) return separate;
  return [long, separate].find((functions) => functions && hasAll(functions, need.least ?? need.symbols)) ?? null;
}

/**
 * What is linked into a library of another name. `kept`: it is hidden there, and the table of what that offers has nothing of it. Null unless all that
 * is needed is there.
 */
async function findInside(
  elf: ElfFile,
  inside: "kept" | "alone",
  { symbols, least = symbols }: Sought,
  others: Wanted,
): Promise<ReadonlyMap<string, ElfSymbol> | null> {
  const tables = elf.sections.filter(({ type }) => type === SectionType.symtab || type === SectionType.dynsym);
  if (inside === "alone" && tables.reduce((sum, { size }) => sum + size, 0) > LARGEST_TABLES) return null;
  const { functions } = await findSymbols(elf, [...symbols.flat(), ...others], inside === "kept" ? "kept" : "all");
  return hasAll(functions, least) ? functions : null;
}

export function hasAll(functions: FoundLibrary["functions"], needed: Needed): boolean {
  return needed.every((symbol) => [symbol].flat().some((name) => functions.has(name)));
}

/** Where an operator's number stands for its name. */
export interface NamesTable {
  readonly symbol: string;
  /** Name of the file that has it. */
  readonly file: string;
  readonly names: readonly string[];
}

/** Operator names of ggml for the library in which the backend is (`own`): from one beside it, or itself; at last from whichever library of the process. */
export async function readNamesTable(files: FilesOnce, pid: number, own: string): Promise<Omit<NamesTable, "symbol"> | null> {
  const { mapped, exe } = await readMapped(files, pid);
  const likely = [/^libggml-base/, /^libggml\./, /^libllama\./];
  const rank = ({ name, path }: Library) => {
    if (path === own) return likely.length;
    const at = likely.findIndex((pattern) => pattern.test(name));
    if (at < 0) return path === exe ? 2 * likely.length + 1 : -1;
    return dirname(path) === dirname(own) ? at : likely.length + 1 + at;
  };
  const candidates = mapped.filter((library) => rank(library) >= 0).sort((a, b) => rank(a) - rank(b));
  const searched: [Library, ElfFile][] = [];
  for (const library of candidates) {
    const elf = await readElf(mappedReader(files, pid, library));
    const names = elf && (await readOperatorNames(elf) ?? await readStrippedNames(files, pid, elf));
    if (names) return { file: library.name, names };
    if (elf) searched.push([library, elf]);
  }
  for (const [{ name }, elf] of searched) {
    const names = await searchOperatorNames(elf);
    if (names) return { file: name, names };
  }
  return null;
}

async function readStrippedNames(files: KernelFiles, pid: number, elf: ElfFile): Promise<string[] | null> {
  const debug = await readDebugFile(files, pid, elf);
  return debug && await readOperatorNames(elf, debug);
}
