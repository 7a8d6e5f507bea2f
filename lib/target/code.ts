import type { CodeFact } from "../events/fact.ts";
import { lastPart } from "../events/text.ts";
import type { KernelFiles } from "../machine/files.ts";
import { readDebugFile } from "./build_id.ts";
import { type ElfFile, offsetOf, SectionType } from "./elf.ts";
import { fileKey, type Mapping, parseMaps } from "./maps.ts";
import { accepts, type ElfSymbol, findSymbols, type Symbols, type Wanted } from "./symbols.ts";

/** A file whose functions are wanted by their names. */
export interface CodeFile {
  readonly dev: number;
  readonly inode: number;
  readonly elf: ElfFile;
  /** Those that somebody asked for, by name. */
  readonly functions: ReadonlyMap<string, ElfSymbol>;
}

/** What the addresses of a process's code stand for now, and functions of these files: all, or those of `names` that were asked for; null when it has ended. */
export async function readCode(
  files: KernelFiles,
  pid: number,
  wanted: readonly CodeFile[],
  names?: Wanted,
): Promise<CodeFact | null> {
  const maps = await files.text(`/proc/${pid}/maps`);
  // Of one that has ended and was not waited for, older kernels give nothing.
  if (!maps) return null;
  const mapped = mappedBy(maps).filter(({ executable }) => executable);
  const ranges = mapped.map(({ start, end, path }) => ({
    at: Number(start),
    bytes: Number(end - start),
    file: lastPart(path),
  }));
  const functions = await Promise.all(wanted.map((file) => functionsOf(files, pid, file, mapped, names)));
  return { fact: "code", pid, ranges, functions: functions.flat() };
}

/** What a process has mapped, by its `maps`. */
export function mappedBy(maps: string): Mapping[] {
  // The kernel's own page of old system calls lies above what a number holds.
  return parseMaps(maps).filter(({ end }) => end <= Number.MAX_SAFE_INTEGER);
}

/** A fact is one line of a recording: of all functions of a large program the smallest, and ends of names, are left out. */
const MOST_FUNCTIONS = 20_000;
const LONGEST_NAME = 200;

/** Functions of a file where the process has them. A stripped file tells those that others call, or has a debug file beside it. */
async function functionsOf(
  files: KernelFiles,
  pid: number,
  { elf, functions: asked, ...file }: CodeFile,
  mapped: readonly Mapping[],
  names: Wanted | undefined,
): Promise<CodeFact["functions"]> {
  const functions = names
    ? [...asked.values()].filter(({ name }) => accepts(names, name))
    : [...(await readNamed(files, pid, elf)).functions.values()];
  const own = mapped.filter((mapping) => fileKey(mapping) === fileKey(file));
  const largest = functions.sort((a, b) => b.size - a.size).slice(0, MOST_FUNCTIONS);
  return largest.flatMap(({ name, value, size }) => {
    const offset = offsetOf(elf, value);
    const range = own.find(({ offset: from, start, end }) => offset !== null && offset >= from && offset - from < Number(end - start));
    return range && size > 0
      ? [{ at: Number(range.start) + offset! - range.offset, bytes: size, name: names ? name : name.slice(0, LONGEST_NAME) }]
      : [];
  });
}

/** All that a file names, or its debug file where it was stripped. */
export async function readNamed(files: KernelFiles, pid: number, elf: ElfFile): Promise<Symbols> {
  const isWhole = elf.sections.some(({ type }) => type === SectionType.symtab);
  return await findSymbols(isWhole ? elf : await readDebugFile(files, pid, elf) ?? elf, [() => true]);
}
