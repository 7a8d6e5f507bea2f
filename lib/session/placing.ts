import { dirname } from "node:path";
import type { Fact } from "../events/fact.ts";
import { counted } from "../events/text.ts";
import { handsOverMarkers, placesThousands } from "../machine/bpftrace.ts";
import type { Capabilities } from "../machine/capabilities.ts";
import type { FilesOnce } from "../machine/files_once.ts";
import { findLibraries, type FoundLibrary, hasAll, type Sought, type Unlooked } from "../programs/found_libraries.ts";
import { sitesIn } from "../programs/library_sites.ts";
import { type Offsets, offsetsOf, readOffset, valueOf } from "../programs/offsets.ts";
import type { Probe, SiteParam } from "../programs/probe.ts";
import type { Wanted } from "../target/symbols.ts";
import { type ProgramPart, siteKey, type SiteMap } from "./program_part.ts";

/** Of functions that are placed one by one: with as many again for their returns, a dozen seconds until they are taken away. */
const MOST_PLACES = 128;

/** Libraries of the same process, with functions by these names. */
type Beside = (sought: Sought, names: Wanted, without?: Unlooked) => Promise<FoundLibrary[]>;

/** Where the probes of a library stand, as this machine, this bpftrace and the library allow. */
export class Placing {
  /** Libraries of which it was said that not all is watched. */
  readonly #toldOfFewer = new Set<string>();
  readonly #toldOfRefused = new Set<string>();

  constructor(readonly machine: Capabilities, readonly fact: (fact: Fact) => void) {}

  /**
   * In those of a process that are attached to now. What cannot be seen in these is left out, and said. `isOfMany`: the process has others of the kind, which
   * have nothing to do with these.
   */
  async place(
    files: FilesOnce,
    pid: number,
    own: readonly Probe[],
    gate: Probe | undefined,
    libraries: readonly FoundLibrary[],
    isOfMany: boolean,
  ): Promise<Pick<ProgramPart, "probes" | "sites" | "offsets">> {
    const all = gate ? [...own, gate] : own;
    const beside: Beside = async (sought, names, how) => {
      const found = await findLibraries(files, pid, sought, names, how);
      const near = isOfMany ? found.filter(({ path }) => libraries.some((own) => dirname(own.path) === dirname(path))) : [];
      return near.length > 0 ? near : found;
    };
    const [sites, offsets] = await Promise.all([this.#sites(all, libraries, beside), this.#offsets(all, libraries, beside)]);
    const probes = all.filter((probe) => {
      const why = whyNot(probe, libraries, offsets);
      if (why !== null && probe !== gate) {
        this.#note(`not seen: ${probe.summary} (${why})${probe.instead ? `; ${probe.instead}` : ""}`, libraries[0]!.name);
      }
      return why === null;
    });
    return { probes, sites, offsets };
  }

  async #offsets(probes: readonly Probe[], own: readonly FoundLibrary[], findBeside: Beside): Promise<Offsets> {
    const params = new Map(probes.flatMap(offsetsOf).map((param) => [param.getter, param]));
    const read = [...params.values()].map(async ({ getter, beside }) => {
      const others = await findBeside({ prefix: beside, symbols: [], apart: true }, [getter]);
      const all = await Promise.all([...own, ...others].map((library) => readOffset(library, getter, this.machine.arch)));
      const offset = all.find((offset) => offset !== null);
      return offset === undefined ? [] : [[getter, offset] as const];
    });
    return new Map((await Promise.all(read)).flat());
  }

  async #sites(probes: readonly Probe[], own: readonly FoundLibrary[], findBeside: Beside): Promise<SiteMap> {
    const { bpftrace, arch, kernel } = this.machine;
    const host = { ...bpftrace!.features, markers: handsOverMarkers(bpftrace!), kernel, arch };
    const params = probes.flatMap((probe) => Object.values(probe.params ?? {})).filter((param) => param.type === "site");
    const returns = params.filter(({ at }) => at === "return").flatMap(({ functions }) => functions.flat());
    const found = params.map(async (param) => {
      const libraries = param.beside === undefined
        ? own
        : await findBeside({ prefix: param.beside, symbols: [] }, param.functions.flat(), { internal: param.internal });
      if (param.at === "usdt" && !host.markers) {
        this.fact({ fact: "note", text: `${param.functions.flat().join(", ")}: not seen, this needs bpftrace 0.27` });
      }
      const all = await Promise.all(libraries.map(async (library) => {
        const refused: string[] = [];
        const sites = await sitesIn(library, this.#ofThose(library, param), host, returns, refused);
        this.#tellRefused(library.name, refused);
        return sites;
      }));
      return [siteKey(param), all.flat()] as const;
    });
    return new Map(await Promise.all(found));
  }

  /** Once, of a beginning and a return. */
  #tellRefused(name: string, [first, ...others]: readonly string[]): void {
    if (first === undefined) return;
    const functions = others.length > 0 ? `${first} and ${counted(others.length, "other")}` : first;
    const text = `${name}: ${functions} not seen, because the kernel accepts no probe on such an instruction`;
    if (!this.#toldOfRefused.has(text)) this.#note(text, name);
    this.#toldOfRefused.add(text);
  }

  /** What of a parameter's functions is looked at: all, where this bpftrace places them at once or there are not too many. */
  #ofThose({ key, name, functions }: FoundLibrary, param: SiteParam): SiteParam {
    if (!param.fewer || functions.size <= MOST_PLACES || placesThousands(this.machine.bpftrace!)) return param;
    if (!this.#toldOfFewer.has(key)) {
      this.#toldOfFewer.add(key);
      const text = `${name}: this bpftrace places probes one by one, so of ${functions.size} functions those that ask for a property are not watched`;
      this.#note(text, name);
    }
    return { ...param, functions: [param.fewer] };
  }

  /** Of a library, which may be linked into a program of any name. */
  #note(text: string, name: string): void {
    this.fact({ fact: "note", text, files: [name] });
  }
}

/** Why a probe cannot be placed into these libraries; null where it can. */
function whyNot(probe: Probe, libraries: readonly FoundLibrary[], offsets: Offsets): string | null {
  const lacking = probe.library!.symbols.filter((symbol) => !libraries.some(({ functions }) => hasAll(functions, [symbol])));
  if (lacking.length > 0) return `${libraries[0]!.name} does not name ${lacking.map((symbol) => [symbol].flat()[0]).join(" and ")}`;
  return offsetsOf(probe).map((param) => valueOf(param, offsets)).find((value) => typeof value === "string") ?? null;
}
