import type { KernelFiles } from "../machine/files.ts";
import type { FilesOnce } from "../machine/files_once.ts";
import { BUILD_ID_SECTION, type NamedPlace } from "../machine/symbol_tables.ts";
import { readDebugFile } from "../target/build_id.ts";
import { type ElfFile, offsetOf, readElf, readSection } from "../target/elf.ts";
import { mappedFile, mappedReader } from "../target/mapped_file.ts";
import { fileKey, libraries, type Library, parseMaps, withoutDeleted } from "../target/maps.ts";
import { harmless } from "../events/text.ts";
import { readOperatorNames } from "../target/string_table.ts";
import { readMarkers } from "../target/usdt.ts";
import { type ElfSymbol, findSymbols, type Symbols, type Wanted } from "../target/symbols.ts";
import type { LibraryNeed, SiteParam } from "./probe.ts";
import { quote, quotePath } from "./quoting.ts";
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
  /** Content of the section of that name. */
  readonly buildId: Uint8Array | null;
  readonly functions: ReadonlyMap<string, ElfSymbol>;
  /** The program itself: what is linked into it is there from its first instruction on. */
  readonly isProgram: boolean;
}

/** Where a probe is placed, and how dear a hit is. */
export interface Site {
  /** In bpftrace's words. */
  readonly attach: string;
  /** For people: `libllama.so:llama_decode+4`. */
  readonly label: string;
  /** Of a hit; where many functions have one attach point, of a hit in the dearest of them. */
  readonly cost: string;
  /** The cost in each of its functions. */
  readonly functions: readonly { readonly name: string; readonly cost: string }[];
  /** The same for whom llmprof gives no symbol table: a person. At the function's beginning where bpftrace accepts no offset. */
  readonly byHand: readonly string[];
  /** What llmprof has to name before. */
  readonly places: readonly NamedPlace[];
}

/** Where {@link findLibraries} does not look. */
export interface Unlooked {
  /** Programs, by their paths, and libraries, by their keys, that are known to have nothing linked into them. Libraries in which nothing is found are added. */
  readonly plain?: Set<string>;
  /** Libraries that the process has mapped by their names: only what is linked into the program is asked for. */
  readonly named?: boolean;
  /** The program, and what a library exports: functions that a library keeps to itself are asked for. */
  readonly internal?: boolean;
}

/** The least that another library takes which is linked into one: CUDA's runtime alone takes more. */
const LEAST_INSIDE = 512 << 10;

/**
 * The libraries of a process that a probe can work with: the name fits (or it is the program itself, linked statically, or a library into which that one
 * may be linked) and the functions are there.
 */
export async function findLibraries(
  files: FilesOnce,
  pid: number,
  need: Pick<LibraryNeed, "prefix" | "symbols" | "apart" | "inside">,
  symbols: Wanted,
  without: Unlooked = {},
): Promise<FoundLibrary[]> {
  const { mapped, exe } = await readMapped(files, pid);
  const named = mapped.filter(({ name }) => name.startsWith(need.prefix));
  // Without such a library, it may be linked into the program.
  const linked = mapped.filter(({ path }) => path === exe && !without.plain?.has(path) && !without.internal);
  const candidates = named.length === 0 ? need.apart ? [] : linked : without.named ? [] : named;
  const isAsked = need.inside && need.symbols.length > 0 && !without.named;
  const isPlain = (library: Library) => without.plain?.has(library.path) || without.plain?.has(fileKey(library));
  const mayHold = (library: Library) => library.bytes >= LEAST_INSIDE && !candidates.includes(library) && !isPlain(library);
  const around = new Set(isAsked ? mapped.filter(mayHold) : []);
  const found = await Promise.all([...candidates, ...around].map(async (library): Promise<FoundLibrary | null> => {
    const { name, path } = library;
    const key = fileKey(library);
    const read = mappedReader(files, pid, library);
    const headers = await readElf(read);
    if (!headers) return null;
    const elf = { ...headers, read };
    const isProgram = path === exe;
    const functions = around.has(library)
      ? await findKept(elf, need.symbols, symbols)
      : without.internal
      ? (await findSymbols(elf, read, symbols)).functions
      : await findFunctions(elf, isProgram, () => readDebugFile(files, pid, elf), need.symbols, symbols);
    if (!functions) {
      if (around.has(library)) without.plain?.add(key);
      return null;
    }
    const buildId = await readSection(read, elf.sections.find(({ name, size }) => name === BUILD_ID_SECTION && size < 65_536));
    return { key, name, path, file: mappedFile(pid, library), elf, buildId, functions, isProgram };
  }));
  return found.filter((library) => library !== null);
}

/** Whether a program has these functions linked into it, as far as it or its debug file tells. */
export async function isLinked(files: KernelFiles, program: ElfFile, need: LibraryNeed, symbols: Wanted): Promise<boolean> {
  return await findFunctions(program, true, () => readDebugFile(files, null, program), need.symbols, symbols) !== null;
}

/** Files of which a process has executable pages, and its program. */
export function readMapped(files: FilesOnce, pid: number): Promise<{ mapped: Library[]; exe: string | null }> {
  return files.made(`mapped ${pid}`, async () => {
    const [maps, exe] = await Promise.all([files.text(`/proc/${pid}/maps`), files.link(`/proc/${pid}/exe`)]);
    return { mapped: libraries(parseMaps(maps ?? "")), exe: exe && withoutDeleted(exe) };
  });
}

/**
 * A library exports what others call, in the short table that `strip` leaves; what is linked into the program may be in the long table only,
 * and where that was stripped, in a debug file. Null unless each of `needed` is there.
 */
async function findFunctions(
  elf: ElfFile,
  isProgram: boolean,
  readDebug: () => Promise<ElfFile | null>,
  needed: readonly string[],
  others: Wanted,
): Promise<ReadonlyMap<string, ElfSymbol> | null> {
  const wanted = [...needed, ...others];
  const has = hasAll(needed);
  const own = await findSymbols(elf, elf.read, wanted, isProgram ? "all" : "exported");
  if (has(own)) return own.functions;
  const long = isProgram ? own : await findSymbols(elf, elf.read, wanted);
  if (has(long)) return long.functions;
  const debug = await readDebug();
  const separate = debug && await findSymbols(debug, debug.read, wanted);
  return separate && has(separate) ? separate.functions : null;
}

/** What is linked into a library is hidden there: the table of what it offers has nothing of it. Null unless each of `needed` is there. */
async function findKept(elf: ElfFile, needed: readonly string[], others: Wanted): Promise<ReadonlyMap<string, ElfSymbol> | null> {
  const kept = await findSymbols(elf, elf.read, [...needed, ...others], "kept");
  return hasAll(needed)(kept) ? kept.functions : null;
}

function hasAll(needed: readonly string[]): (symbols: Symbols) => boolean {
  return ({ functions }) => needed.every((symbol) => functions.has(symbol));
}

/**
 * Attach points of a `site` parameter in a library: those of its functions that exist and can be probed, each at its cheapest place. `returns`:
 * functions at whose return the same program has a probe.
 */
export async function sitesIn(
  library: FoundLibrary,
  param: SiteParam,
  host: SiteHost,
  returns: Wanted = [],
): Promise<Site[]> {
  if (param.at === "usdt") return host.markers ? markersIn(library, param) : [];
  const { at } = param;
  const sites: Site[] = [];
  const { file, buildId } = library;
  const kind = at === "return" ? "uretprobe" : "uprobe";
  const attach = (name: string) => `${kind}:${quotePath(file)}:${name}`;
  const returning = new Set(chosen(library, returns.map((name) => typeof name === "string" ? [name] : name)).map(({ name }) => name));
  for (const { name: symbol, value, size, code } of await readCodes(library.elf, chosen(library, param.functions))) {
    // Where nothing can be read, nothing is known, and the entry is tried.
    const choose = (probe: "entry" | "return"): SiteChoice | null =>
      code.length === 0 ? { offset: 0, cost: "stepped" } : chooseSite(code, size, host, probe);
    const choice = choose(at);
    // The kernel would refuse it, and bpftrace the whole program with it.
    if (!choice) continue;
    const { offset, cost } = choice;
    // A return is trapped at the beginning first: an entry at the same place is no stop of its own.
    const isShared = at === "entry" && returning.has(symbol) && choose("return")?.offset === offset;
    const label = `${harmless(library.name)}:${symbol}${offset > 0 ? `+${offset}` : ""}`;
    const ofReturn = { label: `return of ${harmless(library.name)}:${symbol}`, cost: `${cost} and back` };
    const named = at === "return" ? ofReturn : { label, cost: isShared ? "shared with its return" : cost };
    const described = { ...named, functions: [{ name: symbol, cost: named.cost }] };
    const plain = attach(quote(symbol) + (offset > 0 && host.offsets && at === "entry" ? `+${offset}` : ""));
    const byHand = [plain];
    if (!host.symbols) sites.push({ attach: plain, byHand, places: [], ...described });
    else {
      const name = param.together === undefined ? ownName(symbol, value, offset) : `${patternOf(param)}${value.toString(16)}`;
      const place = { file, buildId, arch: host.arch, name, address: value + offset };
      sites.push({ attach: attach(quote(place.name)), byHand, places: [place], ...described });
    }
  }
  if (param.together === undefined || !host.symbols || sites.length < 2) return sites;
  const cost = dearest(sites.map(({ cost }) => cost));
  const [test] = param.functions;
  const pattern = typeof test === "function" ? test.pattern : undefined;
  return [{
    attach: attach(quote(`${patternOf(param)}*`)),
    label: `${at === "return" ? "return of " : ""}${harmless(library.name)}: ${sites.length} functions`,
    cost,
    functions: sites.flatMap(({ functions }) => functions),
    byHand: pattern === undefined ? sites.flatMap(({ byHand }) => byHand) : [attach(quote(pattern))],
    places: sites.flatMap(({ places }) => places),
  }];
}

/** Attach points at markers. A marker is an instruction that does nothing. */
async function markersIn({ file, name, elf }: FoundLibrary, { functions }: SiteParam): Promise<Site[]> {
  const wanted = new Set(functions.flatMap((names) => typeof names === "function" ? [] : names));
  const found = (await readMarkers(elf, elf.read)).filter(({ provider, name }) => wanted.has(`${provider}:${name}`));
  return found.map((marker) => {
    const attach = `usdt:${quotePath(file)}:${quote(marker.provider)}:${quote(marker.name)}`;
    return { attach, byHand: [attach], label: `${harmless(name)}:${marker.provider}:${marker.name}`, cost: "emulated", functions: [], places: [] };
  });
}

/** The functions of a parameter that the library has. */
function chosen({ functions }: FoundLibrary, wanted: SiteParam["functions"]): ElfSymbol[] {
  return wanted.flatMap((names) => {
    if (typeof names === "function") return [...functions.values()].filter(({ name }) => names(name));
    const symbol = names.find((name) => functions.has(name));
    return symbol === undefined ? [] : functions.get(symbol)!;
  });
}

/** With more functions than these their code is read in one go, if it lies within so many bytes: each read of a file in a container is a child process. */
const FEW = 64, ONE_GO = 64 << 20;

/** With the code of each, as far as {@link chooseSite} looks at it; empty where it cannot be read. */
async function readCodes({ read, ...elf }: FoundLibrary["elf"], functions: readonly ElfSymbol[]): Promise<(ElfSymbol & { code: Uint8Array })[]> {
  const placed = functions.map((symbol) => ({ symbol, at: offsetOf(elf, symbol.value), length: Math.min(symbol.size || 64, siteBytes) }));
  const all = placed.filter(({ at }) => at !== null);
  const first = Math.min(...all.map(({ at }) => at!)), end = Math.max(...all.map(({ at, length }) => at! + length));
  const whole = all.length > FEW && end - first <= ONE_GO ? await read(first, end - first) : null;
  return await Promise.all(placed.map(async ({ symbol, at, length }) => {
    const code = at === null ? null : whole ? whole.subarray(at - first, at - first + length) : await read(at, length);
    return { ...symbol, code: code ?? new Uint8Array() };
  }));
}

/** What the names of places begin with that have one attach point; those of entries and returns may lie differently. */
function patternOf({ together, at }: SiteParam): string {
  return `llmprof_${together}_${at}_`;
}

/** Of costs of sites whose hits cannot be told apart, that of whichever costs most. */
function dearest(costs: readonly string[]): string {
  return costs.find((cost) => cost.startsWith("stepped")) ?? costs.find((cost) => !cost.startsWith("shared")) ?? costs[0]!;
}

/** What llmprof calls a place: after its function, where that is a name that every bpftrace reads. */
function ownName(symbol: string, address: number, offset: number): string {
  return `llmprof_${/^\w{1,100}$/.test(symbol) ? symbol : address.toString(16)}_${offset}`;
}

/** Operator names of ggml, from whichever mapped library of the process holds them. */
export async function readNamesTable(files: FilesOnce, pid: number): Promise<{ file: string; names: string[] } | null> {
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
