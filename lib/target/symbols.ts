import { type ElfFile, readSection, SectionType, viewOf, wide } from "./elf.ts";

export interface ElfSymbol {
  readonly name: string;
  /** Address in the file's own numbering; `offsetOf` makes a place in the file of it. */
  readonly value: number;
  /** Bytes; 0 when unknown. */
  readonly size: number;
  readonly binding: "global" | "weak" | "local";
}

/** What was found, by name. */
export interface Symbols {
  readonly functions: ReadonlyMap<string, ElfSymbol>;
  readonly objects: ReadonlyMap<string, ElfSymbol>;
}

/** Tells by its name whether a symbol is wanted. `pattern`: the same for a person who types it for bpftrace. `begins`: how those that it accepts do. */
export type NameTest = ((name: string) => boolean) & { readonly pattern?: string; readonly begins?: readonly string[] };

/** Names that are wanted, and tests of which one has to accept a name (slower: each name that may be one is decoded for them). */
export type Wanted = readonly (string | NameTest)[];

export function accepts(wanted: Wanted, name: string): boolean {
  return wanted.some((one) => typeof one === "string" ? one === name : one(name));
}

const symbolSize = 24;
const rank = { global: 2, weak: 1, local: 0 } as const;

/**
 * Looks up defined functions and objects in `.symtab` and `.dynsym`; or in `.dynsym` alone, which has what a library offers to others and is
 * much shorter; or in `.symtab` alone, which has what it keeps to itself, unless it was stripped. Of several symbols with one name the global
 * one counts, then the weak one. Damaged tables end the search in them, never in an error: what a reader cannot find cannot be probed, and that
 * is reported anyway.
 */
export async function findSymbols({ sections, read }: ElfFile, wanted: Wanted, where: "all" | "exported" | "kept" = "all"): Promise<Symbols> {
  const functions = new Map<string, ElfSymbol>();
  const objects = new Map<string, ElfSymbol>();
  const match = matching(wanted);
  const tables: readonly number[] = [...where === "exported" ? [] : [SectionType.symtab], ...where === "kept" ? [] : [SectionType.dynsym]];
  for (const section of sections) {
    if (!tables.includes(section.type)) continue;
    const [table, strings] = await Promise.all([readSection(read, section), readSection(read, sections[section.link])]);
    const view = viewOf(table);
    if (!view || !strings) continue;
    for (let at = 0; at + symbolSize <= view.byteLength; at += symbolSize) {
      // An index of 0 is a symbol that another library defines.
      if (view.getUint16(at + 6, true) === 0) continue;
      const info = view.getUint8(at + 4);
      const type = info & 15;
      const into = type === 2 ? functions : type === 1 ? objects : null;
      if (!into) continue;
      const name = match(strings, view.getUint32(at, true));
      if (name === null) continue;
      const value = wide(view, at + 8);
      const size = wide(view, at + 16);
      if (Number.isNaN(value)) continue;
      const binding = info >> 4 === 0 ? "local" : info >> 4 === 2 ? "weak" : "global";
      const known = into.get(name);
      if (!known || rank[binding] > rank[known.binding]) into.set(name, { name, value, size: size || 0, binding });
    }
  }
  return { functions, objects };
}

/** Names of functions that a file asks other libraries for. */
export async function importedNames({ sections, read }: ElfFile): Promise<string[]> {
  const section = sections.find(({ type }) => type === SectionType.dynsym);
  if (!section) return [];
  const [table, strings] = await Promise.all([readSection(read, section), readSection(read, sections[section.link])]);
  const view = viewOf(table);
  if (!view || !strings) return [];
  const name = decoding(() => true), names: string[] = [];
  for (let at = symbolSize; at + symbolSize <= view.byteLength; at += symbolSize) {
    if (view.getUint16(at + 6, true) !== 0) continue;
    const found = name(strings, view.getUint32(at, true));
    if (found !== null) names.push(found);
  }
  return names;
}

/** The wanted name that stands at `at`, or null. */
type Match = (strings: Uint8Array, at: number) => string | null;

function matching(wanted: Wanted): Match {
  const names = wanted.filter((name) => typeof name === "string");
  const tests = wanted.filter((test) => typeof test === "function");
  if (tests.length === 0) return trie(names);
  const set = new Set(names);
  const begins = tests.flatMap(({ begins = [""] }) => begins);
  return decoding((name) => set.has(name) || tests.some((test) => test(name)), [...names, ...begins]);
}

interface Node {
  readonly next: Map<number, Node>;
  name?: string;
}

/** Compares bytes and stops at the first that leads to no wanted name: libtorch has half a million names and 60 MB of them. */
function trie(names: Iterable<string>): Match {
  const root: Node = { next: new Map() };
  for (const name of names) {
    let node = root;
    for (const byte of new TextEncoder().encode(name)) {
      let next = node.next.get(byte);
      if (!next) node.next.set(byte, next = { next: new Map() });
      node = next;
    }
    node.name = name;
  }
  return (strings, at) => {
    let node: Node | undefined = root;
    for (; at < strings.length && node; at++) {
      const byte = strings[at]!;
      if (byte === 0) return node.name ?? null;
      node = node.next.get(byte);
    }
    return null;
  };
}

/** Those that begin with none of the others. */
function shortest(begins: readonly string[]): string[] {
  const kept: string[] = [];
  for (const start of begins.toSorted((a, b) => a.length - b.length)) if (!kept.some((other) => start.startsWith(other))) kept.push(start);
  return kept;
}

/** The longest name that is worth decoding: without a limit, overlapping names of a hostile file cost the square of its size. */
const longestName = 8192;

/** `begins`: how each name that is accepted begins, in one of these ways. A long table has a hundred thousand others. */
function decoding(accepts: NameTest, begins: readonly string[] = [""]): Match {
  const decoder = new TextDecoder("latin1"), starts = shortest(begins).map((start) => new TextEncoder().encode(start));
  return (strings, at) => {
    if (!starts.some((start) => start.every((byte, i) => strings[at + i] === byte))) return null;
    const end = strings.indexOf(0, at);
    if (end < 0 || end === at || end - at > longestName) return null;
    const name = decoder.decode(strings.subarray(at, end));
    return accepts(name) ? name : null;
  };
}
