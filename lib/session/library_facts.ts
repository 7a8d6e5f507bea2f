import { createHash } from "node:crypto";
import type { Fact } from "../events/fact.ts";
import type { FilesOnce } from "../machine/files_once.ts";
import { type FoundLibrary, type NamesTable, readNamesTable } from "../programs/found_libraries.ts";
import type { Probe } from "../programs/probe.ts";
import { readCode } from "../target/code.ts";
import { isGpuDriver } from "../target/inference_files.ts";
import type { Library } from "../target/maps.ts";
import type { LibraryGroup } from "./library_groups.ts";

/** Whose code is asked for, and when: see {@link LibraryFacts.code}. */
interface Asked {
  readonly names: Probe["names"];
  /** By now the process has mapped what it needs. */
  readonly loaded?: boolean;
  /** A file that it has just mapped. */
  readonly inode?: number;
}

/** What is told of the libraries of processes: facts for whoever sees addresses and numbers alone, and what stays unseen. */
export class LibraryFacts {
  /** A digest of what was told of the code of a process, for a group: of all functions of a library it is a megabyte. */
  readonly #told = new Map<string, string>();
  /** Processes of which it was said that a GPU computes unseen. */
  readonly #unseenDevices = new Set<number>();
  /** Processes of which it was said that they call a library past its functions. */
  readonly #bypassing = new Set<number>();

  constructor(readonly fact: (fact: Fact) => void) {}

  /** What addresses in a process stand for; again when it has loaded more: a program stands before its first instruction without any library. */
  async code(
    files: FilesOnce,
    pid: number,
    { stream, need }: LibraryGroup,
    libraries: readonly FoundLibrary[],
    { names, loaded, inode }: Asked,
  ): Promise<void> {
    // Of a group that may have more than one library at a time, each time that there is another.
    const key = [pid, stream, ...need.each ? libraries.map(({ key }) => key) : []].join(" ");
    // It may be another program by now, under the same number.
    const isMapping = libraries.some((library) => library.inode === inode);
    if (libraries.length === 0 || (this.#told.has(key) && !loaded && !isMapping)) return;
    const code = await readCode(files, pid, libraries, names);
    const told = createHash("sha256").update(JSON.stringify(code)).digest("base64");
    if (!code || (this.#told.get(key) === told && !isMapping)) return;
    this.#told.set(key, told);
    // Of ggml's and of PyTorch's there is one.
    this.fact(names ? { ...code, of: stream } : code);
  }

  /** The names that the value `symbol` of each library holds: undefined where none is asked for, null where a library tells none. */
  async tables(
    files: FilesOnce,
    pid: number,
    symbol: string | undefined,
    libraries: readonly FoundLibrary[],
  ): Promise<(NamesTable | null | undefined)[]> {
    if (symbol === undefined) return libraries.map(() => undefined);
    const tables = await Promise.all(libraries.map(async ({ path }) => {
      const table = await readNamesTable(files, pid, path);
      return table && { symbol, ...table };
    }));
    if (tables.includes(null)) {
      this.fact({ fact: "note", text: `no library of process ${pid} tells the names of its operators: they are shown by number` });
    }
    return tables;
  }

  /** An engine that computes on a GPU by what is linked into it: that is in no library of its own. */
  unseenDevice(pid: number, libraries: readonly FoundLibrary[], mapped: readonly Pick<Library, "name">[]): void {
    const driver = libraries.some(({ isProgram, isPart }) => isProgram || isPart) && mapped.find(({ name }) => isGpuDriver(name));
    if (!driver || this.#unseenDevices.has(pid)) return;
    this.#unseenDevices.add(pid);
    const what = "what a GPU computes for it, and how long it is waited for, is in no figure: what computes there is linked in";
    this.fact({ fact: "note", text: `process ${pid} has ${driver.name}: ${what}` });
  }

  /** See `LibraryNeed.bypassed`. */
  bypassed(pid: number, prefix: string | undefined, [library]: readonly FoundLibrary[], mapped: readonly Pick<Library, "name">[]): void {
    const caller = library && prefix !== undefined && mapped.find(({ name }) => name.startsWith(prefix));
    if (!caller || this.#bypassing.has(pid)) return;
    this.#bypassing.add(pid);
    const what = `calls ${library.name} past the functions that are watched, unless it is older than 2025: what it asks for is hardly seen`;
    this.fact({ fact: "note", text: `${caller.name} in process ${pid} ${what}`, files: [caller.name, library.name] });
  }
}
