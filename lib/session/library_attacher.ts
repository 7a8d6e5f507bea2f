import { FilesOnce } from "../machine/files_once.ts";
import type { Fact } from "../events/fact.ts";
import { fileReader, readElf } from "../target/elf.ts";
import { findLibraries, type FoundLibrary, isLinked, readMapped } from "../programs/found_libraries.ts";
import { type Probe, standsAtReturn } from "../programs/probe.ts";
import { hasEnded, readStat } from "../target/process.ts";
import { mustReturn } from "./filtered_returns.ts";
import type { LibraryGroup } from "./library_groups.ts";
import { Placing } from "./placing.ts";
import { isNowhere, type ProgramPart } from "./program_part.ts";
import { LibraryFacts } from "./library_facts.ts";
import type { Means } from "./means.ts";

/** `linked`: only what is linked into the program. `loaded`: by now the process has mapped what it needs. */
interface How {
  readonly gate?: Probe;
  readonly linked?: boolean;
  readonly loaded?: boolean;
  /** Nobody stands and waits. */
  readonly runs?: boolean;
  /** A file into which the library may be linked. */
  readonly inode?: number;
}

/** What came of a stop: how many files were newly attached, and whether each process that runs the same program has to be looked at. */
export interface AtMapping {
  readonly fresh: number;
  readonly each: boolean;
}

/** Starts one program for these, and counts from its readiness on. */
export type StartParts = (parts: readonly ProgramPart[]) => Promise<void>;

/**
 * Nothing that is thrown in these processes, or in whoever has mapped one of the files that are `shared`, may be held up from now on by what is attached
 * to them: names, by {@link FoundLibrary.key}.
 */
export type LetThrow = (files: FilesOnce, pids: readonly number[], shared: ReadonlyMap<string, string>) => Promise<void>;

/** Libraries of a process that serve a group. */
interface Found {
  readonly pid: number;
  readonly group: LibraryGroup;
  readonly how: How;
  readonly libraries: readonly FoundLibrary[];
  /** The process has mapped what it must not have for this group. */
  readonly spared: boolean;
  /** Those of the group that are for such a process. */
  readonly probes: readonly Probe[];
}

/** With those of them that are attached now for the first time. */
interface Fresh extends Found {
  readonly fresh: readonly FoundLibrary[];
}

/** What processes have mapped when a run begins, and the groups of which there is nothing. */
export interface Present {
  readonly files: FilesOnce;
  readonly found: readonly Found[];
  readonly missing: readonly LibraryGroup[];
}

/**
 * Attaches the probes of libraries as these appear: once for each file, however many processes map it. A group that has to wait for an
 * engine's choice between variants gets a second gate, at the call that comes after the choice.
 */
export class LibraryAttacher {
  /** Records that say that an engine's choice between variants has been made, as a rule. */
  readonly announcing: ReadonlySet<string>;
  /** Group or gate and file. */
  readonly #attached = new Set<string>();
  /** Names of the files in which probes stand, by {@link FoundLibrary.key}. */
  readonly watched = new Map<string, string>();
  /** Programs into which nothing of the kind is linked. */
  readonly #plain = new Set<string>();
  readonly #placing: Placing;
  readonly #facts: LibraryFacts;

  constructor(
    readonly means: Means,
    readonly groups: readonly LibraryGroup[],
    readonly start: StartParts,
    readonly fact: (fact: Fact) => void,
    readonly letThrow: LetThrow,
  ) {
    this.#placing = new Placing(means.machine, fact);
    this.#facts = new LibraryFacts(fact);
    this.announcing = new Set(groups.flatMap(({ need }) => need.ready === "mapped" ? [] : need.ready.announced ?? []));
  }

  /** The programs that the gates will ask for: one with a gate in it is acted on and sends a signal. */
  get expected(): { unsafe: boolean; prompt: boolean }[] {
    return this.groups.filter(({ need }) => !need.apart).map(({ gate }) => ({
      unsafe: gate !== undefined,
      prompt: gate !== undefined,
    }));
  }

  /** Looks into a program before it is started, while nobody stands still for it: the long table of a large program takes a tenth of a second. */
  async inspect(path: string): Promise<void> {
    const elf = await readElf(fileReader(this.means.files, path));
    const linkable = this.groups.filter(({ need }) => !need.apart);
    const linked = elf && await Promise.all(linkable.map(({ need, symbols }) => isLinked(this.means.files, elf, need, symbols)));
    if (linked && !linked.some((is) => is)) this.#plain.add(path);
  }

  /**
   * A process stands at the mapping of a library, or before the first instruction of its program: attach what may be attached now, with the
   * gate for the rest. Of what is linked into the program, or into another file (`inode`), there is but one variant.
   */
  async atMapping(pid: number, inode?: number): Promise<AtMapping> {
    const files = new FilesOnce(this.means.files);
    const linked = await Promise.all(this.#chosen.map((group) => this.#findAndAttach(files, pid, group, { linked: true, inode })));
    const hasChosen = linked.some(({ found }) => found > 0);
    const mapped = this.#mapped.filter(({ probes }) => probes.length > 0 || !hasChosen);
    const gate = (group: LibraryGroup) => hasChosen ? undefined : group.gate;
    const others = await Promise.all(mapped.map((group) => this.#findAndAttach(files, pid, group, { gate: gate(group), inode })));
    const all = [...linked, ...others];
    return { fresh: all.reduce((n, { fresh }) => n + fresh, 0), each: all.some(({ each }) => each) };
  }

  /** A process stands at the call: the variant that it has mapped is the one that it uses. */
  async atCall(pid: number): Promise<void> {
    const files = new FilesOnce(this.means.files);
    await Promise.all(this.#chosen.map((group) => this.#findAndAttach(files, pid, group, { loaded: true })));
  }

  /**
   * Processes were running before llmprof: what is mapped is in use. Attaches nothing yet. Where somebody is `patient`, the gates of what is missing
   * come with the rest. `files`: with what was looked at a moment ago.
   */
  async present(pids: readonly number[], patient: boolean, files = new FilesOnce(this.means.files)): Promise<Present> {
    const found: Found[] = [];
    const missing: LibraryGroup[] = [];
    const look = async (group: LibraryGroup, gate?: Probe) => {
      const all = await Promise.all(pids.map((pid) => this.#find(files, pid, group, { gate, runs: true })));
      const isThere = ({ need: { dispensable } }: LibraryGroup) =>
        found.some(({ group, libraries }) => group.need.prefix === dispensable && libraries.length > 0);
      if (all.every(({ libraries, spared }) => libraries.length === 0 && !spared) && !isThere(group)) missing.push(group);
      found.push(...all);
    };
    await Promise.all(this.#chosen.map((group) => look(group)));
    const waitsForCall = patient && missing.length > 0;
    // A group that is a gate and nothing else has nothing to do when nobody waits.
    const mapped = this.#mapped.filter(({ probes }) => probes.length > 0 || waitsForCall);
    await Promise.all(mapped.map((group) => look(group, waitsForCall ? group.gate : undefined)));
    return { files, found, missing };
  }

  /** Attaches what is present: `together` in one program, or each group of each process in its own. */
  async attach({ files, found }: Present, together?: StartParts): Promise<void> {
    if (together) await this.#attach(files, found, together);
    else await Promise.all(found.map((one) => this.#attach(files, [one])));
  }

  /** Attaches what these have mapped while others were counted, and says what was not. */
  async attachLate(pids: readonly number[]): Promise<void> {
    const present = await this.present(pids, false);
    const late = new Map<string, string>();
    for (const { pid, group, libraries } of present.found) {
      const others = libraries.filter(({ key }) => !this.#attached.has(keyOf(group, key)));
      // Who stands has been stopped by the gate, before it did anything there.
      if (others.length === 0 || (await readStat(this.means.files, pid))?.state === "T") continue;
      for (const { name } of others) {
        late.set(`process ${pid} has mapped ${name} while others were counted: what it did there at first is missing`, name);
      }
    }
    await this.attach(present);
    for (const [text, name] of late) this.fact({ fact: "note", text, files: [name] });
  }

  get #mapped(): LibraryGroup[] {
    return this.groups.filter(({ need }) => need.ready === "mapped");
  }

  get #chosen(): LibraryGroup[] {
    return this.groups.filter(({ need }) => need.ready !== "mapped");
  }

  async #find(files: FilesOnce, pid: number, group: LibraryGroup, how: How): Promise<Found> {
    const { mapped } = await readMapped(files, pid);
    const spared = group.unless !== undefined && mapped.some(({ name }) => name.startsWith(group.unless!));
    const libraries = spared ? [] : await findLibraries(files, pid, group.need, group.symbols, {
      plain: this.#plain,
      named: how.linked,
      quick: !how.runs,
      inode: how.inode,
    });
    const probes = group.probes.filter(({ given }) => given === undefined || mapped.some(({ name }) => given.test(name)));
    if (libraries.length > 0 && probes.some(standsAtReturn)) await mustReturn(files, this.means.machine, pid);
    if (probes.length < group.probes.length) this.#facts.unseenDevice(pid, libraries, mapped);
    this.#facts.bypassed(pid, group.need.bypassed, libraries, mapped);
    return { pid, group, how, libraries, spared, probes };
  }

  async #findAndAttach(files: FilesOnce, pid: number, group: LibraryGroup, how: How): Promise<AtMapping & { found: number }> {
    const found = await this.#find(files, pid, group, how);
    const each = group.need.each === true && found.libraries.some(({ isProgram }) => isProgram);
    return { found: found.libraries.length, fresh: await this.#attach(files, [found]), each };
  }

  /** Attaches what is new of these in one program, and returns how many files that were. A given `start` is called even where there are none. */
  async #attach(files: FilesOnce, all: readonly Found[], start?: StartParts): Promise<number> {
    const fresh: Fresh[] = all.map((found) => ({ ...found, fresh: found.libraries.filter(({ key }) => this.#take(found.group, key)) }))
      .filter(({ fresh }) => fresh.length > 0);
    // Before anything is attached: what is told of an address comes after what the address stands for.
    for (const { pid, group, libraries, how, probes } of all) {
      const asking = probes.find(({ facts }) => facts?.includes("code"));
      if (asking) await this.#facts.code(files, pid, group, libraries, { names: asking.names, loaded: how.loaded, inode: how.inode });
    }
    const letThrow = () => this.#letThrow(files, all, fresh);
    if (fresh.length === 0 && !start) await letThrow();
    else await this.#startWith(files, fresh, start ?? this.start, letThrow).catch((error) => this.#unlessGone(fresh, error, start));
    return fresh.reduce((n, { fresh }) => n + fresh.length, 0);
  }

  async #startWith(files: FilesOnce, all: readonly Fresh[], start: StartParts, letThrow: () => Promise<void>): Promise<void> {
    const parts = Promise.all(all.map((found) => this.#parts(files, found)));
    // Before, and not beside: whoever runs may throw at any time.
    await letThrow();
    await start((await parts).flat().filter((part) => !isNowhere(part)));
    for (const { probes, fresh } of all) if (probes.length > 0) { for (const { key, name } of fresh) this.watched.set(key, name); }
  }

  /** Each that has mapped it: one with a file that is attached to already may have another unwinder. */
  async #letThrow(files: FilesOnce, all: readonly Found[], fresh: readonly Fresh[]): Promise<void> {
    const throws = ({ group: { need }, libraries, probes }: Found) => need.throws && libraries.length > 0 && probes.some(standsAtReturn);
    const throwing = all.filter(throws);
    const shared = new Map(fresh.filter(throws).flatMap(({ fresh }) => fresh.map(({ key, name }) => [key, name])));
    if (throwing.length > 0) await this.letThrow(files, [...new Set(throwing.map(({ pid }) => pid))], shared);
  }

  /** One, or where engines in one process have brought libraries that number their operators otherwise, one for each kind. */
  async #parts(files: FilesOnce, { pid, group: { stream, need }, probes, how: { gate }, fresh }: Fresh): Promise<ProgramPart[]> {
    const place = (libraries: readonly FoundLibrary[], isOfMany: boolean) => this.#placing.place(files, pid, probes, gate, libraries, isOfMany);
    const [tables, alone] = await Promise.all([
      this.#facts.tables(files, pid, need.table, fresh),
      fresh.length === 1 ? place(fresh, false) : undefined,
    ]);
    const kinds = Map.groupBy(fresh.keys(), (i) => JSON.stringify(tables[i]?.names));
    return await Promise.all([...kinds.values()].map(async (kind) => {
      const table = tables[kind[0]!];
      return { stream, ...table !== undefined && { table }, ...alone ?? await place(kind.map((i) => fresh[i]!), kinds.size > 1) };
    }));
  }

  /**
   * Engines fork processes that try something out, and map variants of a library to choose one. Where the process ended meanwhile, whoever comes next
   * with the file attaches it; where it let go of a variant, what it maps now is attached.
   */
  async #unlessGone(all: readonly Fresh[], error: unknown, start: StartParts | undefined): Promise<void> {
    const files = new FilesOnce(this.means.files);
    const ended = await Promise.all(all.map(({ pid }) => hasEnded(this.means.files, pid)));
    const alive = all.filter((_, i) => !ended[i]);
    if (alive.length === all.length && !(await this.#haveLetGo(files, alive))) throw error;
    for (const { group, fresh } of all) for (const { key } of fresh) this.#attached.delete(keyOf(group, key));
    for (const { pid, fresh } of all.filter((_, i) => ended[i])) {
      const files = fresh.map(({ name }) => name);
      const text = `process ${pid} ended while probes were attached to its ${files.join(" and ")}: nothing of it was seen there`;
      this.fact({ fact: "note", text, files });
    }
    await this.#attach(files, await Promise.all(alive.map(({ pid, group, how }) => this.#find(files, pid, group, how))), start);
  }

  async #haveLetGo(files: FilesOnce, all: readonly Fresh[]): Promise<boolean> {
    const letGo = await Promise.all(all.map(async ({ pid, group, fresh }) => {
      const mapped = new Set((await findLibraries(files, pid, group.need, group.symbols)).map(({ key }) => key));
      return fresh.some(({ key }) => !mapped.has(key));
    }));
    return letGo.includes(true);
  }

  #take(group: LibraryGroup, key: string): boolean {
    const taken = keyOf(group, key);
    if (this.#attached.has(taken)) return false;
    this.#attached.add(taken);
    return true;
  }
}

function keyOf({ stream }: LibraryGroup, key: string): string {
  return `${stream} ${key}`;
}
