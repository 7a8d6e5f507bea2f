import type { KernelFiles } from "../machine/files.ts";
import { type DebugFile, readDebugFile } from "../target/build_id.ts";
import { type ElfFile, offsetOf, readElf } from "../target/elf.ts";
import { mappedFile, mappedReader } from "../target/mapped_file.ts";
import { libraries, type Library, parseMaps, withoutDeleted } from "../target/maps.ts";
import { harmless } from "../events/text.ts";
import { readOperatorNames } from "../target/string_table.ts";
import { type ElfSymbol, findSymbols, type Symbols } from "../target/symbols.ts";
import type { LibraryNeed, SiteParam } from "./probe.ts";
import { quote, quotePath } from "./render.ts";
import { chooseSite, siteBytes, type SiteChoice, type SiteHost } from "./site.ts";

/** A library as a process has it mapped, with the functions that were asked for. */
export interface FoundLibrary {
  /** Identity of the file: a uprobe lives on it, whatever the process. */
  readonly key: string;
  /** File name without its folders. */
  readonly name: string;
  /** Path in the target's own mount namespace. */
  readonly path: string;
  /** A path through which bpftrace reaches this very file. */
  readonly file: string;
  readonly elf: ElfFile;
  readonly functions: ReadonlyMap<string, FoundFunction>;
  /** The program itself: what is linked into it is there from its first instruction on. */
  readonly isProgram: boolean;
}

/** A function, and, where only a debug file tells its name, whether that is in the machine's own root. */
export type FoundFunction = ElfSymbol & { readonly debug: { readonly inMachine: boolean } | null };

/** Where a probe is placed, and how dear a hit is. */
export interface Site {
  /** In bpftrace's words. */
  readonly attach: string;
  /** For people: `libllama.so:llama_decode+4`. */
  readonly label: string;
  readonly cost: string;
  /** The file has no name at this address: bpftrace takes it with `--unsafe` only. */
  readonly unsafe?: boolean;
}

/** Where {@link findLibraries} does not look. */
export interface Unlooked {
  /** Programs that are known to have nothing linked into them. */
  readonly plain?: ReadonlySet<string>;
  /** Libraries that the process has mapped by their names: only what is linked into the program is asked for. */
  readonly named?: boolean;
}

/**
 * The libraries of a process that a probe can work with: the name fits (or it is the program itself, linked statically) and the functions are
 * there.
 */
export async function findLibraries(
  files: KernelFiles,
  pid: number,
  need: Pick<LibraryNeed, "prefix" | "symbols">,
  symbols: readonly string[],
  without: Unlooked = {},
): Promise<FoundLibrary[]> {
  const { mapped, exe } = await readMapped(files, pid);
  const named = mapped.filter(({ name }) => name.startsWith(need.prefix));
  // Without such a library, it may be linked into the program.
  const linked = mapped.filter(({ path }) => path === exe && !without.plain?.has(path));
  const candidates = named.length === 0 ? linked : without.named ? [] : named;
  const found = await Promise.all(candidates.map(async (library): Promise<FoundLibrary | null> => {
    const { dev, inode, name, path } = library;
    const read = mappedReader(files, pid, library);
    const headers = await readElf(read);
    if (!headers) return null;
    const elf = { ...headers, read };
    const isProgram = path === exe;
    const functions = await findFunctions(elf, isProgram, () => readDebugFile(files, pid, elf), need.symbols, symbols);
    return functions && { key: `${dev}:${inode}`, name, path, file: mappedFile(pid, library), elf, functions, isProgram };
  }));
  return found.filter((library) => library !== null);
}

/** Whether a program has these functions linked into it, as far as it or its debug file tells. */
export async function isLinked(files: KernelFiles, program: ElfFile, need: LibraryNeed, symbols: readonly string[]): Promise<boolean> {
  return await findFunctions(program, true, () => readDebugFile(files, null, program), need.symbols, symbols) !== null;
}

async function readMapped(files: KernelFiles, pid: number): Promise<{ mapped: Library[]; exe: string | null }> {
  const [maps, exe] = await Promise.all([files.text(`/proc/${pid}/maps`), files.link(`/proc/${pid}/exe`)]);
  return { mapped: libraries(parseMaps(maps ?? "")), exe: exe && withoutDeleted(exe) };
}

/**
 * A library exports what others call, in the short table that `strip` leaves; what is linked into the program may be in the long table only,
 * and where that was stripped, in a debug file. Null unless each of `needed` is there.
 */
async function findFunctions(
  elf: ElfFile,
  isProgram: boolean,
  readDebug: () => Promise<DebugFile | null>,
  needed: readonly string[],
  others: readonly string[],
): Promise<ReadonlyMap<string, FoundFunction> | null> {
  const wanted = [...needed, ...others];
  const has = ({ functions }: Symbols) => needed.every((symbol) => functions.has(symbol));
  const own = await findSymbols(elf, elf.read, wanted, isProgram ? "all" : "exported");
  if (has(own)) return marked(own);
  const long = isProgram ? own : await findSymbols(elf, elf.read, wanted);
  if (has(long)) return marked(long);
  const debug = await readDebug();
  const separate = debug && await findSymbols(debug, debug.read, wanted);
  return separate && has(separate) ? marked(separate, debug) : null;
}

function marked({ functions }: Symbols, debug: DebugFile | null = null): Map<string, FoundFunction> {
  return new Map([...functions].map(([name, symbol]) => [name, { ...symbol, debug: debug && { inMachine: debug.inMachine } }]));
}

const unknown: SiteChoice = { offset: 0, cost: "stepped", gain: null };

/**
 * Attach points of a `site` parameter in a library: those of its functions that exist and can be probed, each at its cheapest place. `returns`:
 * functions at whose return the same program has a probe.
 */
export async function sitesIn(
  library: FoundLibrary,
  param: SiteParam,
  host: SiteHost,
  returns: ReadonlySet<string> = new Set(),
): Promise<Site[]> {
  const sites: Site[] = [];
  for (const names of param.functions) {
    const symbol = names.find((name) => library.functions.has(name));
    if (symbol === undefined) continue;
    const found = library.functions.get(symbol)!;
    const at = offsetOf(library.elf, found.value);
    // Builds without offsets are the old ones, which search both symbol tables anew for every name, while the target stands: an address is found at once.
    const start = found.debug ? numberOf(library.elf, found.value, at ?? found.value, found.debug) : host.offsets ? null : found.value;
    const target = `${quotePath(library.file)}:`;
    const place = (offset: number) => start === null ? quote(symbol) + (offset ? `+${offset}` : "") : `0x${(start + offset).toString(16)}`;
    const label = `${harmless(library.name)}:${symbol}`;
    const common = found.debug ? { unsafe: true } : {};
    if (param.at === "return") {
      sites.push({ attach: `uretprobe:${target}${place(0)}`, label: `return of ${label}`, cost: "return", ...common });
      continue;
    }
    const bytes = (at === null ? null : await library.elf.read(at, Math.min(siteBytes, found.size || siteBytes))) ?? new Uint8Array();
    // Where nothing can be read, nothing is known, and the entry is tried.
    const choice = bytes.length === 0 ? unknown : chooseSite(bytes, host);
    // The kernel would refuse it, and bpftrace the whole program with it.
    if (!choice) continue;
    const { offset, cost, gain } = choice;
    // A return is trapped at the entry first: an entry at the same place is no stop of its own. (Behind `endbr64` it is, and begins after the step.)
    const isShared = offset === 0 && returns.has(symbol);
    const price = isShared ? "shared with its return" : gain ? `${cost} (${gain} with bpftrace ≥ 0.23)` : cost;
    sites.push({ attach: `uprobe:${target}${place(offset)}`, label: `${label}${offset ? `+${offset}` : ""}`, cost: price, ...common });
  }
  return sites;
}

/**
 * The number by which bpftrace finds a function of a file without names. It takes a number for an address as long as it finds a symbol there (in a
 * debug file that it finds itself too), and for a place in the file otherwise. A place that is no address of the file means the same to it in either
 * case; in many files the two are equal anyway.
 */
function numberOf(elf: ElfFile, address: number, at: number, debug: { readonly inMachine: boolean }): number {
  return debug.inMachine && offsetOf(elf, at) !== null ? address : at;
}

/** Operator names of ggml, from whichever mapped library of the process holds them. */
export async function readNamesTable(files: KernelFiles, pid: number): Promise<{ file: string; names: string[] } | null> {
  const { mapped, exe } = await readMapped(files, pid);
  const likely = [/^libggml-base/, /^libggml\./, /^libllama\./];
  const rank = ({ name, path }: Library) => path === exe ? likely.length : likely.findIndex((pattern) => pattern.test(name));
  const candidates = mapped.filter((library) => rank(library) >= 0).sort((a, b) => rank(a) - rank(b));
  for (const library of candidates) {
    const read = mappedReader(files, pid, library);
    const elf = await readElf(read);
    const names = elf && (await readOperatorNames(elf, read) ?? await readStrippedNames(files, pid, { ...elf, read }));
    if (names) return { file: library.name, names };
  }
  return null;
}

async function readStrippedNames(files: KernelFiles, pid: number, elf: ElfFile): Promise<string[] | null> {
  const debug = await readDebugFile(files, pid, elf);
  return debug && await readOperatorNames(elf, elf.read, debug);
}
