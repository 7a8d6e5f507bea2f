import { callGate } from "../../probes/gate/call.ts";
import { mappingGate } from "../../probes/gate/mapping.ts";
import { offsetsOf } from "../programs/offsets.ts";
import type { LibraryNeed, Needed, Probe, SiteParam } from "../programs/probe.ts";
import type { Wanted } from "../target/symbols.ts";

/** The stream of the gate at the mapping of libraries. */
export const GATE_STREAM = "gate";

/** Probes that share a library and are attached by one program: the stream of that name. */
export interface LibraryGroup {
  readonly stream: string;
  readonly probes: readonly Probe[];
  /** `symbols`: what all of its probes need together; `least`: what each of them does, without which none works. */
  readonly need: LibraryNeed & { readonly least: Needed };
  /** Every function that a site of the probes may name. */
  readonly symbols: Wanted;
  /** Stops a process at a call into this library at which another group can be attached; part of the same program. */
  readonly gate?: Probe;
  /** It is for processes that have not mapped a library with this prefix. */
  readonly unless?: string;
}

/**
 * By the folder of the probe: `ggml/ops` and `ggml/graph` are attached together, and count in one window. Where a group waits for a call
 * into a library, the gate at that call joins the group of that library, or makes one.
 */
export function groupByLibrary(probes: readonly Probe[]): LibraryGroup[] {
  const folders = Map.groupBy(probes.filter((probe) => probe.library), streamOf);
  const groups = [...folders].map(([stream, members]): LibraryGroup => ({
    stream,
    probes: members,
    need: needOf(members.map(({ library }) => library!)),
    symbols: [...new Set(members.flatMap(siteSymbols))],
  }));
  for (const { need } of [...groups]) {
    if (need.ready === "mapped") continue;
    const { prefix, call, otherwise } = need.ready;
    const own = (gate: Probe) => needOf([gate.library!]);
    if (otherwise && !groups.some(({ unless }) => unless === prefix)) {
      const gate = callGate(otherwise);
      groups.push({ stream: "gate-otherwise", probes: [], need: { ...own(gate), apart: true }, symbols: otherwise.call, gate, unless: prefix });
    }
    const gate = callGate(need.ready);
    const host = groups.findIndex((group) => group.need.ready === "mapped" && group.need.prefix === prefix);
    if (host < 0) groups.push({ stream: "gate-call", probes: [], need: own(gate), symbols: call, gate });
    else if (!groups[host]!.gate) groups[host] = { ...groups[host]!, symbols: [...groups[host]!.symbols, ...call], gate };
  }
  return groups;
}

/** Of needs of one library that differ in functions alone. */
function needOf(needs: readonly LibraryNeed[]): LibraryGroup["need"] {
  const all = new Map(needs.flatMap(({ symbols }) => symbols).map((symbol) => [String(symbol), symbol]));
  const least = [...all].filter(([key]) => needs.every(({ symbols }) => symbols.some((symbol) => String(symbol) === key)));
  const symbols = [...all.values()];
  return { ...needs[0]!, symbols, least: least.length > 0 ? least.map(([, symbol]) => symbol) : symbols };
}

/** Prefixes of file names at whose mapping a process has to be stopped for these groups. */
export function gatePrefixes(groups: readonly LibraryGroup[]): string[] {
  return [...new Set(groups.filter(({ need }) => need.ready === "mapped").map(({ need }) => need.prefix))];
}

/** The gate at which processes stop for these groups, and with `execs` where they start another program; null: none of them is waited for at its mapping. */
export function gateFor(groups: readonly LibraryGroup[], execs: boolean): Probe | null {
  const prefixes = gatePrefixes(groups);
  if (prefixes.length === 0) return null;
  const each = gatePrefixes(groups.filter(({ need }) => need.each));
  const others = groups.filter(({ unless }) => unless !== undefined);
  const throwing = gatePrefixes(groups.filter(({ need }) => need.throws));
  return mappingGate({ prefixes, each, otherwise: gatePrefixes(others), unless: others.map(({ unless }) => unless!), throwing }, execs);
}

/** What is waited for in a target that runs already: what each process of it may map, now or later, and those of `missing`. */
export function stillAwaited(groups: readonly LibraryGroup[], missing: readonly LibraryGroup[]): LibraryGroup[] {
  return groups.filter((group) => group.need.each || missing.includes(group));
}

/** The program that a library's probe is a part of. */
export function streamOf({ name }: Probe): string {
  return name.slice(0, name.indexOf("/"));
}

function siteSymbols(probe: Probe): Wanted {
  const sites = Object.values(probe.params ?? {}).filter((param): param is SiteParam => param.type === "site");
  return [
    ...sites.filter(({ beside }) => beside === undefined).flatMap(({ functions }) => functions.flat()),
    ...offsetsOf(probe).map(({ getter }) => getter),
  ];
}
