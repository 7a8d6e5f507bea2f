import { ExitCode, LlmprofError } from "../events/errors.ts";
import { FilesOnce } from "../machine/files_once.ts";
import type { Fact } from "../events/fact.ts";
import { readCode } from "../target/code.ts";
import { fileReader, readElf } from "../target/elf.ts";
import { findLibraries, type FoundLibrary, isLinked, readNamesTable, type Site, sitesIn } from "../programs/library_sites.ts";
import type { Probe, SiteParam } from "../programs/probe.ts";
import { hasEnded } from "../target/process.ts";
import type { LibraryGroup } from "./library_groups.ts";
import type { Means } from "./means.ts";

/** Sites of each parameter: see {@link siteKey}. */
export type SiteMap = ReadonlyMap<string, readonly Site[]>;

/** Parameters that name the same functions at the same place have the same sites. */
export function siteKey(param: SiteParam): string {
  return [param.at, param.beside ?? "", ...param.functions].join(" ");
}

/** `linked`: only what is linked into the program. `loaded`: by now the process has mapped what it needs. */
interface How {
  readonly gate?: Probe;
  readonly linked?: boolean;
  readonly loaded?: boolean;
}

/** `started`: its probes are attached. */
interface Begun {
  readonly found: number;
  readonly fresh: number;
  readonly started: Promise<void>;
}

/** Starts a program whose sites are resolved, and counts from its readiness on. */
export type StartLibraryProgram = (stream: string, probes: readonly Probe[], sites: SiteMap) => Promise<void>;

/**
 * Attaches the probes of libraries as these appear: once for each file, however many processes map it. A group that has to wait for an
 * engine's choice between variants gets a second gate, at the call that comes after the choice.
 */
export class LibraryAttacher {
  /** Group or gate and file. */
  readonly #attached = new Set<string>();
  /** Programs into which nothing of the kind is linked. */
  readonly #plain = new Set<string>();
  /** What was told of the code of a process. */
  readonly #told = new Map<number, string>();

  constructor(
    readonly means: Means,
    readonly groups: readonly LibraryGroup[],
    readonly start: StartLibraryProgram,
    readonly fact: (fact: Fact) => void,
  ) {}

  /** The programs that the gates will ask for: one with a gate in it is acted on and sends a signal. */
  get expected(): { unsafe: boolean; prompt: boolean }[] {
    return this.groups.map(({ gate }) => ({ unsafe: gate !== undefined, prompt: gate !== undefined }));
  }

  /** Prefixes of file names at whose mapping the target has to be stopped. */
  get gatePrefixes(): string[] {
    return [...new Set(this.#mapped.map(({ need }) => need.prefix))];
  }

  /** Looks into a program before it is started, while nobody stands still for it: the long table of a large program takes a tenth of a second. */
  async inspect(path: string): Promise<void> {
    const read = fileReader(this.means.files, path);
    const elf = await readElf(read);
    const linked = elf && await Promise.all(this.groups.map(({ need, symbols }) => isLinked(this.means.files, { ...elf, read }, need, symbols)));
    if (linked && !linked.some((is) => is)) this.#plain.add(path);
  }

  /**
   * A process stands at the mapping of a library, or before the first instruction of its program: attach what may be attached now, with the
   * gate for the rest. Of what is linked into the program there is but one variant. Returns how many files were newly attached.
   */
  async atMapping(pid: number): Promise<number> {
    const files = new FilesOnce(this.means.files);
    const linked = await Promise.all(this.#chosen.map((group) => this.#attach(files, pid, group, { linked: true })));
    const hasChosen = linked.some(({ found }) => found > 0);
    const mapped = this.#mapped.filter(({ probes }) => probes.length > 0 || !hasChosen);
    const others = await Promise.all(mapped.map((group) => this.#attach(files, pid, group, { gate: hasChosen ? undefined : group.gate })));
    return [...linked, ...others].reduce((n, { fresh }) => n + fresh, 0);
  }

  /** Whether a record says that an engine's choice between variants has been made, as a rule. */
  announces(record: string): boolean {
    return this.groups.some(({ need }) => need.ready !== "mapped" && need.ready.announced === record);
  }

  /** A process stands at the call: the variant that it has mapped is the one that it uses. */
  async atCall(pid: number): Promise<void> {
    const files = new FilesOnce(this.means.files);
    await Promise.all(this.#chosen.map((group) => this.#attach(files, pid, group, { loaded: true })));
  }

  /**
   * Processes were running before llmprof: what is mapped is in use. Returns the groups for which there was nothing; where somebody is `patient`
   * their gates are armed.
   */
  async atStart(pids: readonly number[], patient: boolean): Promise<LibraryGroup[]> {
    const files = new FilesOnce(this.means.files);
    // Groups attach at once: whether one's library is there is known long before its bpftrace is ready.
    const starting: Promise<void>[] = [];
    const attach = async (group: LibraryGroup, gate?: Probe) => {
      const all = await Promise.all(pids.map((pid) => this.#begin(files, pid, group, { gate })));
      starting.push(...all.map(({ started }) => started));
      return all.some(({ found }) => found > 0);
    };
    const missing: LibraryGroup[] = [];
    for (const group of this.#chosen) if (!(await attach(group))) missing.push(group);
    const waitsForCall = patient && missing.length > 0;
    // A group that is a gate and nothing else has nothing to do when nobody waits.
    for (const group of this.#mapped) {
      if (group.probes.length === 0 && !waitsForCall) continue;
      if (!(await attach(group, waitsForCall ? group.gate : undefined))) missing.push(group);
    }
    await Promise.all(starting);
    return missing;
  }

  get #mapped(): LibraryGroup[] {
    return this.groups.filter(({ need }) => need.ready === "mapped");
  }

  get #chosen(): LibraryGroup[] {
    return this.groups.filter(({ need }) => need.ready !== "mapped");
  }

  /**
   * Why a running process cannot be profiled: nothing of the kind is mapped, or what is mapped does not tell where its functions are. Null where it
   * could be now, because it was just loading them.
   */
  async whyMissing(pids: readonly number[], missing: readonly LibraryGroup[]): Promise<LlmprofError | null> {
    const { need, symbols } = missing[0]!;
    const any = await Promise.all(pids.map((pid) => findLibraries(this.means.files, pid, { ...need, symbols: [] }, [])));
    const names = any.flat().map(({ name }) => name).filter((name) => name.startsWith(need.prefix));
    if (names.length > 0) {
      const now = await Promise.all(pids.map((pid) => findLibraries(this.means.files, pid, need, symbols)));
      if (now.some((libraries) => libraries.length > 0)) return null;
      const what = `${names[0]} does not name the function ${need.symbols.join(" or ")}.`;
      return new LlmprofError(
        ExitCode.failed,
        what,
        "Its symbols were stripped, or it is another version than llmprof knows.",
        "Use a build that keeps its dynamic symbols.",
      );
    }
    return new LlmprofError(
      ExitCode.failed,
      `Process ${pids[0]} has no ${need.prefix.replace(/\.$/, "")}*.so mapped.`,
      "It is no llama.cpp, or it has not loaded it yet.",
      "Wait for it with --wait, or let llmprof start it: llmprof <command> -- program args…",
    );
  }

  /** `found`: libraries of the process that serve the group; `fresh`: those of them that are attached now for the first time. */
  async #attach(files: FilesOnce, pid: number, group: LibraryGroup, how?: How): Promise<{ found: number; fresh: number }> {
    const { started, ...counts } = await this.#begin(files, pid, group, how);
    await started;
    return counts;
  }

  /** As {@link #attach}, without waiting until the probes are attached. */
  async #begin(files: FilesOnce, pid: number, group: LibraryGroup, how: How = {}): Promise<Begun> {
    const libraries = await findLibraries(files, pid, group.need, group.symbols, { plain: this.#plain, named: how.linked });
    const fresh = libraries.filter((library) => this.#take(keyOf(group, library)));
    const told = this.#tellCode(files, pid, group, libraries, how.loaded);
    const started = fresh.length > 0
      ? told.then(() => this.#startWith(files, pid, group, fresh, how.gate)).catch((error) => this.#unlessGone(pid, group, how, fresh, error))
      : told;
    // Whoever waits for it may still be looking for other libraries when it fails.
    started.catch(() => {});
    return { found: libraries.length, fresh: fresh.length, started };
  }

  /**
   * Before anything is attached to a process: what is told of an address comes after what the address stands for. And again when it has loaded more:
   * a program stands before its first instruction without any library.
   */
  async #tellCode(files: FilesOnce, pid: number, { probes }: LibraryGroup, libraries: readonly FoundLibrary[], again = false): Promise<void> {
    if (libraries.length === 0 || (this.#told.has(pid) && !again) || !probes.some(({ facts }) => facts?.includes("code"))) return;
    const code = await readCode(files, pid, libraries);
    const told = JSON.stringify(code);
    if (!code || this.#told.get(pid) === told) return;
    this.#told.set(pid, told);
    this.fact(code);
  }

  async #startWith(files: FilesOnce, pid: number, group: LibraryGroup, fresh: readonly FoundLibrary[], gate: Probe | undefined): Promise<void> {
    const probes = gate ? [...group.probes, gate] : group.probes;
    const table = group.need.table === undefined ? null : this.#readTable(files, pid, group.need.table);
    const started = this.#sites(files, pid, probes, fresh).then((sites) => this.start(group.stream, probes, sites));
    await Promise.all([table, started]);
  }

  /**
   * Engines fork processes that try something out, and map variants of a library to choose one. Where the process ended meanwhile, whoever comes next
   * with the file attaches it; where it let go of a variant, what it maps now is attached.
   */
  async #unlessGone(pid: number, group: LibraryGroup, how: How, libraries: readonly FoundLibrary[], error: unknown): Promise<void> {
    const forget = () => libraries.forEach((library) => this.#attached.delete(keyOf(group, library)));
    if (await hasEnded(this.means.files, pid)) {
      forget();
      const names = libraries.map(({ name }) => name).join(" and ");
      return this.fact({ fact: "note", text: `process ${pid} ended while probes were attached to its ${names}: nothing of it was seen there` });
    }
    const files = new FilesOnce(this.means.files);
    const mapped = new Set((await findLibraries(files, pid, group.need, group.symbols)).map(({ key }) => key));
    if (libraries.every(({ key }) => mapped.has(key))) throw error;
    forget();
    await this.#attach(files, pid, group, how);
  }

  async #sites(files: FilesOnce, pid: number, probes: readonly Probe[], own: readonly FoundLibrary[]): Promise<SiteMap> {
    const { bpftrace, arch, kernel } = this.means.machine;
    const params = probes.flatMap((probe) => Object.values(probe.params ?? {})).filter((param) => param.type === "site");
    const returns = new Set(params.filter(({ at }) => at === "return").flatMap(({ functions }) => functions.flat()));
    const found = params.map(async (param) => {
      const libraries = param.beside === undefined
        ? own
        : await findLibraries(files, pid, { prefix: param.beside, symbols: [] }, param.functions.flat());
      const all = await Promise.all(libraries.map((library) => sitesIn(library, param, { ...bpftrace!.features, kernel, arch }, returns)));
      return [siteKey(param), all.flat()] as const;
    });
    return new Map(await Promise.all(found));
  }

  async #readTable(files: FilesOnce, pid: number, symbol: string): Promise<void> {
    const table = await readNamesTable(files, pid);
    if (table) this.fact({ fact: "table", symbol, ...table });
    else this.fact({ fact: "note", text: `no library of process ${pid} tells the names of its operators: they are shown by number` });
  }

  #take(key: string): boolean {
    if (this.#attached.has(key)) return false;
    this.#attached.add(key);
    return true;
  }
}

function keyOf({ stream }: LibraryGroup, { key }: FoundLibrary): string {
  return `${stream} ${key}`;
}
