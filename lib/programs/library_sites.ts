import type { KernelFiles } from "../machine/files.ts";
import { type ByteReader, type Elf, fileReader, offsetOf, readElf } from "../target/elf.ts";
import { libraries, type Library, mappedFile, parseMaps } from "../target/maps.ts";
import { readOperatorNames } from "../target/string_table.ts";
import { type ElfSymbol, findSymbols } from "../target/symbols.ts";
import type { LibraryNeed, SiteParam } from "./probe.ts";
import { quote, quotePath } from "./render.ts";
import { chooseSite, siteBytes } from "./site.ts";

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
  readonly elf: Elf;
  readonly read: ByteReader;
  readonly functions: ReadonlyMap<string, ElfSymbol>;
}

/** Where a probe is placed, and how dear a hit is. */
export interface Site {
  /** In bpftrace's words. */
  readonly attach: string;
  /** For people: `libllama.so:llama_decode+4`. */
  readonly label: string;
  readonly cost: string;
}

/** The libraries of a process that a probe can work with: the name fits (or it is the program itself, linked statically) and the functions are there. */
export async function findLibraries(
  files: KernelFiles,
  pid: number,
  need: Pick<LibraryNeed, "prefix" | "symbols">,
  symbols: readonly string[],
): Promise<FoundLibrary[]> {
  const [maps, exe] = await Promise.all([files.text(`/proc/${pid}/maps`), files.link(`/proc/${pid}/exe`)]);
  const mapped = libraries(parseMaps(maps ?? ""));
  const named = mapped.filter(({ name }) => name.startsWith(need.prefix));
  // Without such a library, it may be linked into the program.
  const candidates = named.length > 0 ? named : mapped.filter(({ path }) => path === exe);
  const found = await Promise.all(candidates.map(async ({ dev, inode, name, path, range }): Promise<FoundLibrary | null> => {
    const file = mappedFile(pid, { range });
    const read = fileReader(files, file);
    const elf = await readElf(read);
    if (!elf) return null;
    // A library exports what others call; what is linked into the program may be in the long table only.
    const { functions } = await findSymbols(elf, read, [...need.symbols, ...symbols], path === exe ? "all" : "exported");
    if (!need.symbols.every((symbol) => functions.has(symbol))) return null;
    return { key: `${dev}:${inode}`, name, path, file, elf, read, functions };
  }));
  return found.filter((library) => library !== null);
}

/** Attach points of a `site` parameter in a library: those of its functions that exist, each at its cheapest place. */
export async function sitesIn(
  library: FoundLibrary,
  param: SiteParam,
  can: { readonly offsets: boolean },
  arch: "x86_64" | "aarch64",
): Promise<Site[]> {
  const sites: Site[] = [];
  for (const names of param.functions) {
    const symbol = names.find((name) => library.functions.has(name));
    if (symbol === undefined) continue;
    const found = library.functions.get(symbol)!;
    // Builds without offsets are the old ones, which search both symbol tables anew for every name, while the target stands: an address is found at once.
    const place = can.offsets ? quote(symbol) : `0x${found.value.toString(16)}`;
    const target = `${quotePath(library.file)}:${place}`;
    const label = `${library.name}:${symbol}`;
    if (param.at === "return") {
      sites.push({ attach: `uretprobe:${target}`, label: `return of ${label}`, cost: "return" });
      continue;
    }
    const at = offsetOf(library.elf, found.value);
    const bytes = (at === null ? null : await library.read(at, siteBytes)) ?? new Uint8Array();
    const { offset, cost, gain } = chooseSite(bytes, can, arch);
    const plus = offset ? `+${offset}` : "";
    const price = gain ? `${cost} (${gain} with bpftrace ≥ 0.23)` : cost;
    sites.push({ attach: `uprobe:${target}${plus}`, label: `${label}${plus}`, cost: price });
  }
  return sites;
}

/** Operator names of ggml, from whichever mapped library of the process holds them. */
export async function readNamesTable(files: KernelFiles, pid: number): Promise<{ file: string; names: string[] } | null> {
  const [maps, exe] = await Promise.all([files.text(`/proc/${pid}/maps`), files.link(`/proc/${pid}/exe`)]);
  const likely = [/^libggml-base/, /^libggml\./, /^libllama\./];
  const rank = ({ name, path }: Library) => path === exe ? likely.length : likely.findIndex((pattern) => pattern.test(name));
  const candidates = libraries(parseMaps(maps ?? "")).filter((library) => rank(library) >= 0).sort((a, b) => rank(a) - rank(b));
  for (const library of candidates) {
    const read = fileReader(files, mappedFile(pid, library));
    const elf = await readElf(read);
    const names = elf && await readOperatorNames(elf, read);
    if (names) return { file: library.name, names };
  }
  return null;
}
