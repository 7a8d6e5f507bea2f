import type { Event } from "../events/event.ts";
import { holding, type Piece } from "../events/sorted.ts";
import type { Fact, Place } from "../events/fact.ts";
import { lastPart } from "../events/text.ts";
import { FilesOnce } from "../machine/files_once.ts";
import type { KernelFiles } from "../machine/files.ts";
import { NAME_BYTES } from "../programs/schema.ts";
import { isBehindCall, LONGEST_CALL } from "../target/call_instruction.ts";
import { mappedBy, readNamed } from "../target/code.ts";
import { type ElfFile, offsetOf, readElf } from "../target/elf.ts";
import { mappedReader } from "../target/mapped_file.ts";
import { fileKey, type Mapping } from "../target/maps.ts";

interface Named extends Piece {
  readonly name: string;
}

/** A mapping by its addresses. */
interface Mapped extends Piece {
  readonly mapping: Mapping;
}

/** A file as it is mapped: its code, or its data. */
interface NamedFile {
  readonly elf: ElfFile | null;
  /** Functions or objects by where they lie in the file, in that order. */
  readonly named: readonly Named[];
}

/** Of so many processes that have ended it is kept what they had mapped: what they did last may come through only now. */
const KEPT = 100;

/** What addresses on stacks stand for, found out while the process is there: facts for whoever sees addresses alone. */
export class StackPlaces {
  /** By process: addresses of which nothing was told yet, and whether each is a return address. */
  readonly #new = new Map<number, Map<number, boolean>>();
  /** By process: addresses of which note was taken. */
  readonly #told = new Map<number, Set<number>>();
  readonly #files = new Map<string, Promise<NamedFile>>();
  /** Should a process have ended meanwhile: what it had mapped when it was last looked at. */
  readonly #maps = new Map<number, string>();
  /** Who forked a process that has started no program since: it has mapped the same. */
  readonly #parents = new Map<number, number>();
  /** Those that ended last. */
  readonly #ended = new Set<number>();

  constructor(readonly files: KernelFiles, readonly arch: "x86_64" | "aarch64", readonly fact: (fact: Fact) => void) {}

  /** Takes note of an address, and says whether somebody has to look at the process: nobody is about to. */
  firstTold({ record, pid, tid, values }: Event): boolean {
    if (record === "process/life.task" && !values[1]) this.#begins(values[0] as number, pid);
    if (record === "process/life.exec") this.#forget(pid);
    if (record === "process/life.exit" && pid === tid) this.#ends(pid);
    if (!record.endsWith(".frame")) return false;
    const [, depth, address] = values as readonly number[];
    const told = this.#told.get(pid);
    if (told?.has(address!)) return false;
    if (told) told.add(address!);
    else this.#told.set(pid, new Set([address!]));
    const waiting = this.#new.get(pid);
    if (waiting) waiting.set(address!, depth! > 0);
    else this.#new.set(pid, new Map([[address!, depth! > 0]]));
    return waiting === undefined;
  }

  async look(pid: number): Promise<void> {
    const addresses = this.#new.get(pid)!;
    this.#new.delete(pid);
    const maps = await this.files.text(`/proc/${pid}/maps`) || (this.#maps.get(pid) ?? this.#maps.get(this.#parents.get(pid) ?? NaN));
    // It has ended before anybody looked.
    if (!maps) return;
    this.#maps.set(pid, maps);
    const mapped = mappedBy(maps).map((mapping) => ({ at: Number(mapping.start), bytes: Number(mapping.end - mapping.start), mapping }));
    const files = new FilesOnce(this.files);
    const found = await Promise.all([...addresses].map(([at, isReturn]) => this.#place(files, pid, mapped, at, isReturn)));
    this.fact({ fact: "places", pid, places: found.filter((place) => place !== null) });
  }

  /** Its number may have been another's. */
  #begins(pid: number, parent: number): void {
    this.#forget(pid);
    this.#parents.set(pid, parent);
  }

  #ends(pid: number): void {
    this.#ended.add(pid);
    const [first] = this.#ended;
    if (this.#ended.size > KEPT) this.#forget(first!);
  }

  #forget(pid: number): void {
    for (const known of [this.#told, this.#maps, this.#parents, this.#ended]) known.delete(pid);
  }

  /** Of data it is asked what is called so: a kernel of HIP is known by a constant of its name. */
  async #place(files: FilesOnce, pid: number, mapped: readonly Mapped[], at: number, isReturn: boolean): Promise<Place | null> {
    const found = holding(mapped, at);
    if (!found) return null;
    const { mapping } = found, { path, inode, executable } = mapping;
    if (!executable && (isReturn || inode === 0)) return null;
    const offset = inode === 0 ? 0 : at - found.at + mapping.offset;
    const nowhere = { at, file: inode === 0 && !path.startsWith("[") ? "" : lastPart(path), name: null, offset };
    if (inode === 0) return nowhere;
    const { elf, named } = await this.#file(files, pid, mapping);
    if (!elf) return executable ? nowhere : null;
    // The call, not what comes after it, which may be another function where this one never returns.
    const inside = isReturn ? offset - 1 : offset;
    if (isReturn && !isBehindCall(await this.#before(files, pid, mapping, elf, offset), this.arch)) return null;
    const name = holding(named, inside)?.name ?? null;
    return executable || name !== null ? { ...nowhere, name: name && withEnd(name) } : null;
  }

  /** The file may be read through any process that has mapped it: the first may have ended since, or this one. */
  async #before(files: FilesOnce, pid: number, mapping: Mapping, elf: ElfFile, offset: number): Promise<Uint8Array | null> {
    const at = offset - LONGEST_CALL;
    return await mappedReader(files, pid, mapping)(at, LONGEST_CALL) ?? await elf.read(at, LONGEST_CALL);
  }

  #file(files: FilesOnce, pid: number, mapping: Mapping): Promise<NamedFile> {
    const key = keyOf(mapping);
    let file = this.#files.get(key);
    if (!file) {
      this.#files.set(key, file = this.#read(files, pid, mapping));
      // Whoever looks next may find room for the process that reads it.
      file.catch(() => this.#files.delete(key));
    }
    return file;
  }

  async #read(files: FilesOnce, pid: number, mapping: Mapping): Promise<NamedFile> {
    const elf = await readElf(mappedReader(files, pid, mapping));
    if (!elf) {
      // Whoever looks next may do so through a process that has not ended.
      this.#files.delete(keyOf(mapping));
      return { elf, named: [] };
    }
    const named = (await readNamed(this.files, pid, elf))[mapping.executable ? "functions" : "objects"].values().flatMap(({ name, value, size }) => {
      const at = offsetOf(elf, value);
      return at === null || size === 0 ? [] : [{ at, bytes: size, name }];
    });
    return { elf, named: [...named].sort((a, b) => a.at - b.at) };
  }
}

/** A fact is one line of a recording: of a longer name the end is left out. */
function withEnd(name: string): string {
  return name.length > NAME_BYTES ? `${name.slice(0, NAME_BYTES)}…` : name;
}

function keyOf(mapping: Mapping): string {
  return `${fileKey(mapping)} ${mapping.executable}`;
}
