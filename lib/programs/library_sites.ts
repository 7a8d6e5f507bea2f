import { harmless } from "../events/text.ts";
import type { NamedPlace } from "../machine/symbol_tables.ts";
import { offsetOf } from "../target/elf.ts";
import type { ElfSymbol, Wanted } from "../target/symbols.ts";
import { readMarkers } from "../target/usdt.ts";
import type { FoundLibrary } from "./found_libraries.ts";
import type { SiteParam } from "./probe.ts";
import { quote, quotePath } from "./quoting.ts";
import { chooseSite, siteBytes, type SiteChoice, type SiteHost } from "./site.ts";

/** More than most instructions have. */
const TOLD_BYTES = 8;

/** Where a probe is placed, and how dear a hit is. */
export interface Site {
  /** In bpftrace's words. */
  readonly attach: string;
  /** For people: `libllama.so:llama_decode+4`. */
  readonly label: string;
  /** Of a hit; where many functions have one attach point, of a hit in the dearest of them. */
  readonly cost: string;
  /** The cost in each of its functions. */
  readonly functions: readonly { readonly name: string; readonly cost: string }[];
  /** The same for whom llmprof gives no symbol table: a person. At the function's beginning where bpftrace accepts no offset. */
  readonly byHand: readonly string[];
  /** What llmprof has to name before. */
  readonly places: readonly NamedPlace[];
}

/**
 * Attach points of a `site` parameter in a library: those of its functions that exist and can be probed, each at its cheapest place. `returns`:
 * functions at whose return the same program has a probe. `refused`: is given the functions that cannot be probed, with the bytes that they begin with.
 */
export async function sitesIn(
  library: FoundLibrary,
  param: SiteParam,
  host: SiteHost,
  returns: Wanted = [],
  refused: string[] = [],
): Promise<Site[]> {
  if (param.at === "usdt") return host.markers ? markersIn(library, param) : [];
  if (param.part && !library.isPart || param.with?.some((name) => !library.functions.has(name))) return [];
  const { at } = param;
  const sites: Site[] = [];
  const { file, buildId } = library;
  const kind = at === "return" ? "uretprobe" : "uprobe";
  const attach = (name: string) => `${kind}:${quotePath(file)}:${name}`;
  const returning = new Set(chosen(library, returns.map((name) => typeof name === "string" ? [name] : name)).map(({ name }) => name));
  for (const { name: symbol, value, size, code } of await readCodes(library.elf, chosen(library, param.functions))) {
    // Where nothing can be read, nothing is known, and the entry is tried.
    const choose = (probe: "entry" | "return"): SiteChoice | null =>
      code.length === 0 ? { offset: 0, cost: "stepped" } : chooseSite(code, size, host, probe);
    const choice = choose(at);
    // The kernel would refuse it, and bpftrace the whole program with it.
    if (!choice) {
      refused.push(`${harmless(symbol)} (${code.subarray(0, TOLD_BYTES).toHex().replace(/..(?=.)/g, "$& ")})`);
      continue;
    }
    const { offset, cost } = choice;
    // A return is trapped at the beginning first: an entry at the same place is no stop of its own.
    const isShared = at === "entry" && returning.has(symbol) && choose("return")?.offset === offset;
    const label = `${harmless(library.name)}:${symbol}${offset > 0 ? `+${offset}` : ""}`;
    const ofReturn = { label: `return of ${harmless(library.name)}:${symbol}`, cost: `${cost} and back` };
    const named = at === "return" ? ofReturn : { label, cost: isShared ? "shared with its return" : cost };
    const described = { ...named, functions: [{ name: symbol, cost: named.cost }] };
    const plain = attach(quote(symbol) + (offset > 0 && host.offsets && at === "entry" ? `+${offset}` : ""));
    const byHand = [plain];
    if (!host.symbols) sites.push({ attach: plain, byHand, places: [], ...described });
    else {
      const own = param.together === undefined ? ownName(symbol, value, offset) : `${patternOf(param)}${value.toString(16)}`;
      // A pattern that no other name begins with.
      const [name, sought] = host.patterns ? [`${own}.`, `${own}.*`] : [own, own];
      const place = { file, buildId, arch: host.arch, name, address: value + offset };
      sites.push({ attach: attach(quote(sought)), byHand, places: [place], ...described });
    }
  }
  if (param.together === undefined || !host.symbols || sites.length < 2) return sites;
  const cost = dearest(sites.map(({ cost }) => cost));
  const [test] = param.functions;
  const pattern = typeof test === "function" ? test.pattern : undefined;
  return [{
    attach: attach(quote(`${patternOf(param)}*`)),
    label: `${at === "return" ? "return of " : ""}${harmless(library.name)}: ${sites.length} functions`,
    cost,
    functions: sites.flatMap(({ functions }) => functions),
    byHand: pattern === undefined ? sites.flatMap(({ byHand }) => byHand) : [attach(quote(pattern))],
    places: sites.flatMap(({ places }) => places),
  }];
}

/** Attach points at markers. A marker is an instruction that does nothing. */
async function markersIn({ file, name, elf }: FoundLibrary, { functions }: SiteParam): Promise<Site[]> {
  const wanted = new Set(functions.flatMap((names) => typeof names === "function" ? [] : names));
  const found = (await readMarkers(elf)).filter(({ provider, name }) => wanted.has(`${provider}:${name}`));
  return found.map((marker) => {
    const attach = `usdt:${quotePath(file)}:${quote(marker.provider)}:${quote(marker.name)}`;
    return { attach, byHand: [attach], label: `${harmless(name)}:${marker.provider}:${marker.name}`, cost: "emulated", functions: [], places: [] };
  });
}

/** The functions of a parameter that the library has. */
function chosen({ functions }: FoundLibrary, wanted: SiteParam["functions"]): ElfSymbol[] {
  return wanted.flatMap((names) => {
    if (typeof names === "function") return [...functions.values()].filter(({ name }) => names(name));
    const symbol = names.find((name) => functions.has(name));
    return symbol === undefined ? [] : functions.get(symbol)!;
  });
}

/** With more functions than these their code is read in one go, if it lies within so many bytes: each read of a file in a container is a child process. */
const FEW = 64, ONE_GO = 64 << 20;

/** With the code of each, as far as {@link chooseSite} looks at it; empty where it cannot be read. */
async function readCodes({ read, ...elf }: FoundLibrary["elf"], functions: readonly ElfSymbol[]): Promise<(ElfSymbol & { code: Uint8Array })[]> {
  const placed = functions.map((symbol) => ({ symbol, at: offsetOf(elf, symbol.value), length: Math.min(symbol.size || 64, siteBytes) }));
  const all = placed.filter(({ at }) => at !== null);
  const first = Math.min(...all.map(({ at }) => at!)), end = Math.max(...all.map(({ at, length }) => at! + length));
  const whole = all.length > FEW && end - first <= ONE_GO ? await read(first, end - first) : null;
  return await Promise.all(placed.map(async ({ symbol, at, length }) => {
    const code = at === null ? null : whole ? whole.subarray(at - first, at - first + length) : await read(at, length);
    return { ...symbol, code: code ?? new Uint8Array() };
  }));
}

/** What the names of places begin with that have one attach point; those of entries and returns may lie differently. */
function patternOf({ together, at }: SiteParam): string {
  return `llmprof_${together}_${at}_`;
}

/** Of costs of sites whose hits cannot be told apart, that of whichever costs most. */
function dearest(costs: readonly string[]): string {
  return costs.find((cost) => cost.startsWith("stepped")) ?? costs.find((cost) => !cost.startsWith("shared")) ?? costs[0]!;
}

/** What llmprof calls a place: after its function, where that is a name that every bpftrace reads. */
function ownName(symbol: string, address: number, offset: number): string {
  return `llmprof_${/^\w{1,100}$/.test(symbol) ? symbol : address.toString(16)}_${offset}`;
}
