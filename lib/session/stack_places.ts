import type { Event } from "../events/event.ts";
import { firstIndex } from "../events/sorted.ts";
import type { Fact, Place } from "../events/fact.ts";
import { FilesOnce } from "../machine/files_once.ts";
import type { KernelFiles } from "../machine/files.ts";
import { readDebugFile } from "../target/build_id.ts";
import { type ElfFile, offsetOf, readElf, SectionType } from "../target/elf.ts";
import { mappedReader } from "../target/mapped_file.ts";
import { type Mapping, parseMaps } from "../target/maps.ts";
import { findSymbols } from "../target/symbols.ts";

/** A call instruction is no longer. */
const LONGEST_CALL = 7;
/** A fact is one line of a recording: ends of names are left out. */
const LONGEST_NAME = 200;

interface NamedCode {
  /** In the file. */
  readonly offset: number;
  readonly bytes: number;
  readonly name: string;
}

interface CodeFile {
  readonly elf: ElfFile | null;
  /** In the order of their offsets. */
  readonly functions: readonly NamedCode[];
}

/** What addresses on stacks stand for, found out while the process is there: facts for whoever sees addresses alone. */
export class StackPlaces {
  /** By process: addresses of which nothing was told yet, and whether each is a return address. */
  readonly #new = new Map<number, Map<number, boolean>>();
  readonly #told = new Set<string>();
  readonly #files = new Map<string, Promise<CodeFile>>();
  /** Of a process that has ended meanwhile, what it had mapped when it was last looked at. */
  readonly #maps = new Map<number, string>();

  constructor(readonly files: KernelFiles, readonly arch: "x86_64" | "aarch64", readonly fact: (fact: Fact) => void) {}

  /** Takes note of an address, and says whether somebody has to look at the process: nobody is about to. */
  firstTold({ record, pid, values }: Event): boolean {
    if (!record.endsWith(".frame")) return false;
    const [, depth, address] = values as readonly number[];
    const id = `${pid} ${address}`;
    if (this.#told.has(id)) return false;
    this.#told.add(id);
    const waiting = this.#new.get(pid);
    if (waiting) waiting.set(address!, depth! > 0);
    else this.#new.set(pid, new Map([[address!, depth! > 0]]));
    return waiting === undefined;
  }

  async look(pid: number): Promise<void> {
    const maps = await this.files.text(`/proc/${pid}/maps`) ?? this.#maps.get(pid);
    const addresses = this.#new.get(pid)!;
    this.#new.delete(pid);
    // It has ended before anybody looked.
    if (maps === undefined || maps === "") return;
    this.#maps.set(pid, maps);
    const code = parseMaps(maps).filter(({ executable, end }) => executable && end <= Number.MAX_SAFE_INTEGER);
    const files = new FilesOnce(this.files);
    const found = await Promise.all([...addresses].map(([at, isReturn]) => this.#place(files, pid, code, at, isReturn)));
    this.fact({ fact: "places", pid, places: found.filter((place) => place !== null) });
  }

  async #place(files: FilesOnce, pid: number, code: readonly Mapping[], at: number, isReturn: boolean): Promise<Place | null> {
    const mapping = code[firstIndex(code, ({ start }) => Number(start) > at) - 1];
    if (!mapping || at >= Number(mapping.end)) return null;
    const { path, inode, start, offset: from } = mapping;
    const offset = inode === 0 ? 0 : at - Number(start) + from;
    const nowhere = { at, file: inode === 0 && !path.startsWith("[") ? "" : path.slice(path.lastIndexOf("/") + 1), name: null, offset };
    if (inode === 0) return nowhere;
    const { elf, functions } = await this.#file(files, pid, mapping);
    if (!elf) return nowhere;
    // The call, not what comes after it, which may be another function where this one never returns.
    const inside = isReturn ? offset - 1 : offset;
    if (isReturn && !isBehindCall(await elf.read(offset - LONGEST_CALL, LONGEST_CALL), this.arch)) return null;
    const last = functions[firstIndex(functions, ({ offset }) => offset > inside) - 1];
    return { ...nowhere, name: last && inside < last.offset + last.bytes ? last.name.slice(0, LONGEST_NAME) : null };
  }

  #file(files: FilesOnce, pid: number, mapping: Mapping): Promise<CodeFile> {
    const key = `${mapping.dev}:${mapping.inode}`;
    let file = this.#files.get(key);
    if (!file) this.#files.set(key, file = this.#read(files, pid, mapping));
    return file;
  }

  async #read(files: FilesOnce, pid: number, { dev, inode, path, deleted, range }: Mapping): Promise<CodeFile> {
    const read = mappedReader(files, pid, { dev, inode, path, deleted, range, name: path });
    const headers = await readElf(read);
    if (!headers) return { elf: null, functions: [] };
    const elf = { ...headers, read };
    const isWhole = elf.sections.some(({ type }) => type === SectionType.symtab);
    const named = isWhole ? elf : await readDebugFile(this.files, pid, elf) ?? elf;
    const { functions } = await findSymbols(named, named.read, [() => true]);
    const placed = [...functions.values()].flatMap(({ name, value, size }) => {
      const offset = offsetOf(elf, value);
      return offset === null || size === 0 ? [] : [{ offset, bytes: size, name }];
    });
    return { elf, functions: placed.sort((a, b) => a.offset - b.offset) };
  }
}

/** Whether the bytes before a place end in a call instruction. */
export function isBehindCall(before: Uint8Array | null, arch: "x86_64" | "aarch64"): boolean {
  if (!before || before.length < LONGEST_CALL) return false;
  if (arch === "aarch64") {
    const word = new DataView(before.buffer, before.byteOffset + before.length - 4, 4).getUint32(0, true);
    // bl, blr
    return word >>> 26 === 0b100101 || (word & 0xfffffc1f) >>> 0 === 0xd63f0000;
  }
  // call rel32; call r/m64: opcode ff with 2 in the middle of the next byte, whose other bits say how long it is.
  if (before.at(-5) === 0xe8) return true;
  return [2, 3, 4, 6, 7].some((length) => before.at(-length) === 0xff && lengthOfCall(before.at(1 - length)!, before.at(2 - length)) === length);
}

/** Of a `call r/m64` by the byte behind its opcode and the next: 0 where it is none. */
function lengthOfCall(modrm: number, sib = 0): number {
  const mode = modrm >> 6, operation = modrm >> 3 & 7, register = modrm & 7;
  if (operation !== 2) return 0;
  if (mode === 3) return 2;
  const hasSib = register === 4;
  const displacement = mode === 1 ? 1 : mode === 2 ? 4 : register === 5 || (hasSib && (sib & 7) === 5) ? 4 : 0;
  return 2 + (hasSib ? 1 : 0) + displacement;
}
