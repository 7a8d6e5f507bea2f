import type { Event } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import { lastPart } from "../events/text.ts";
import { FilesOnce } from "../machine/files_once.ts";
import type { KernelFiles } from "../machine/files.ts";
import { mappedFile, mappedReader } from "../target/mapped_file.ts";
import { fileKey, type Mapping, parseMaps } from "../target/maps.ts";
import { openFiles } from "../target/open_files.ts";
import { readStoredTensors } from "../target/stored_tensors.ts";

/** A model is no smaller. */
const SMALLEST_MODEL = 1 << 20;
const EXECUTABLE = 4;
/** Whoever maps a file again and again for a moment is looked at so often: a look is a child process. */
const MOST_MISSED = 8;
/** A fact is one line of a recording: of more the largest are told. */
const MOST_MAPPINGS = 10_000;

/** A file's mapping as an event tells of it. */
interface ToldMapping {
  readonly at: number;
  readonly bytes: number;
  readonly dev: number;
  readonly inode: number;
}

/** Which files processes have mapped and open, and which tensors lie where in those that hold a model: facts for whoever sees addresses and inodes alone. */
export class HeldFiles {
  /** Files that were looked into, and of which an event told, by device and inode. */
  readonly #known = new Set<string>();
  readonly #told = new Set<string>();
  /** How often one was gone when it was to be looked into. */
  readonly #missed = new Map<string, number>();

  constructor(readonly files: KernelFiles, readonly fact: (fact: Fact) => void) {}

  /** Processes were running before llmprof. */
  async present(pids: readonly number[]): Promise<void> {
    await Promise.all(pids.map(async (pid) => {
      const mapped = await this.#mappedBy(pid);
      this.#tell(pid, mapped);
      const opened = await openFiles(this.files, pid);
      const files = opened.map(({ dev, inode, path }) => ({ dev, inode, file: lastPart(path) }));
      if (files.length > 0) this.fact({ fact: "opened", pid, files });
      await this.#lookInto(pid, mapped);
    }));
  }

  /** Processes run another program, which the kernel has mapped without a call that is seen. */
  async began(pids: readonly number[]): Promise<void> {
    const maps = await this.files.texts(pids.map(mapsOf));
    for (const [index, text] of maps.entries()) this.#tell(pids[index]!, mappedIn(text));
  }

  /** Of a file which may hold a model, where an event is the first that says that it was mapped, or the first after a look that came too late. */
  firstTold({ record, values }: Event): ToldMapping | null {
    if (record !== "files/access.map") return null;
    const [, at, bytes, prot, , dev, inode] = values as [number, number, number, number, number, number, number];
    const id = fileKey({ dev, inode });
    if (bytes < SMALLEST_MODEL || (prot & EXECUTABLE) !== 0 || this.#told.has(id)) return null;
    this.#told.add(id);
    return { at, bytes, dev, inode };
  }

  /** A process has mapped this file, as {@link firstTold} says. */
  async look(pid: number, told: ToldMapping): Promise<void> {
    const mapped = (await this.#mappedBy(pid)).map((mapping) => asTold(mapping, told)), file = fileKey(told);
    await this.#lookInto(pid, mapped);
    if (this.#known.has(file) || mapped.some((mapping) => fileKey(mapping) === file)) return;
    const missed = (this.#missed.get(file) ?? 0) + 1;
    this.#missed.set(file, missed);
    if (missed < MOST_MISSED) this.#told.delete(file);
  }

  #tell(pid: number, mapped: readonly Mapping[]): void {
    const largest = mapped.toSorted((a, b) => Number(b.end - b.start) - Number(a.end - a.start)).slice(0, MOST_MAPPINGS);
    const files = largest.map(({ start, end, offset, dev, inode, path, executable }) => {
      const file = lastPart(path);
      return { at: Number(start), bytes: Number(end - start), offset, dev, inode, file, ...executable && { isCode: true } };
    });
    if (files.length > 0) this.fact({ fact: "mapped", pid, files });
  }

  async #mappedBy(pid: number): Promise<Mapping[]> {
    return mappedIn(await this.files.text(mapsOf(pid)));
  }

  async #lookInto(pid: number, mapped: readonly Mapping[]): Promise<void> {
    const files = new FilesOnce(this.files);
    const executable = new Set(mapped.filter((mapping) => mapping.executable).map(fileKey));
    const fresh = mapped.filter((mapping) => {
      const id = fileKey(mapping);
      if (executable.has(id) || this.#known.has(id) || mapping.end - mapping.start < SMALLEST_MODEL) return false;
      this.#known.add(id);
      return true;
    });
    try {
      await this.#readTensors(files, pid, fresh);
    } catch (error) {
      for (const mapping of fresh) for (const known of [this.#known, this.#told]) known.delete(fileKey(mapping));
      throw error;
    }
  }

  async #readTensors(files: FilesOnce, pid: number, fresh: readonly Mapping[]): Promise<void> {
    // A device that is mapped, a GPU's, is not to be opened.
    const plain = await this.files.modes(fresh.map((mapping) => mappedFile(pid, mapping)));
    await Promise.all(fresh.map(async (mapping) => {
      if (!plain.has(mappedFile(pid, mapping))) return;
      const { dev, inode } = mapping;
      const tensors = await readStoredTensors(mappedReader(files, pid, mapping));
      if (tensors) this.fact({ fact: "tensors", dev, inode, tensors });
    }));
  }
}

/** Where a file of an overlay is mapped, Linux before 6.8 lists the one below: of the same inode on another device. Events tell of the overlay's. */
function asTold(mapping: Mapping, { at, bytes, dev, inode }: ToldMapping): Mapping {
  const isThat = mapping.inode === inode && mapping.start < at + bytes && mapping.end > at;
  return isThat ? { ...mapping, dev } : mapping;
}

function mapsOf(pid: number): string {
  return `/proc/${pid}/maps`;
}

/** Mappings of files. */
function mappedIn(maps: string | null): Mapping[] {
  return parseMaps(maps ?? "").filter(({ inode, end }) => inode !== 0 && end <= Number.MAX_SAFE_INTEGER);
}
