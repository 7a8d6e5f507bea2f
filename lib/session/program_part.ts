import type { Capabilities } from "../machine/capabilities.ts";
import type { Filter } from "../programs/filter.ts";
import type { NamesTable } from "../programs/found_libraries.ts";
import type { Site } from "../programs/library_sites.ts";
import { type Offsets, offsetsOf } from "../programs/offsets.ts";
import { type Probe, type SiteParam, standsOnTop } from "../programs/probe.ts";
import { GATE_STREAM, gateFor, type LibraryGroup } from "./library_groups.ts";

/** Sites of each parameter: see {@link siteKey}. */
export type SiteMap = ReadonlyMap<string, readonly Site[]>;

/** Parameters that name the same functions at the same place have the same sites. Tests of names are told apart by what they have together. */
export function siteKey(param: SiteParam): string {
  return [param.at, param.beside ?? "", param.together ?? "", ...param.functions].join(" ");
}

/** Probes that are started together, those of a library or those of the kernel, and where they stand: a program, or a part of one. */
export interface ProgramPart {
  readonly stream: string;
  readonly probes: readonly Probe[];
  readonly sites: SiteMap;
  /** As its libraries lay out their structures. */
  readonly offsets?: Offsets;
  /** Names of its libraries' operators, by number; null: they are not told. */
  readonly table?: NamesTable | null;
}

/** Is told what is not seen, and why. */
type Note = (text: string) => void;

/** Those that this machine has the counters for. */
export function countable(probes: readonly Probe[], { counters: here }: Pick<Capabilities, "counters">, note: Note): Probe[] {
  return probes.filter(({ counters = [], summary }) => {
    const missing = counters.filter((name) => !here.has(name));
    if (missing.length === 0) return true;
    const why = here.size === 0 ? "this machine has no such counters, like most virtual ones" : `this processor has no ${missing.join(", ")}`;
    note(`${summary}: not seen here, ${why}`);
    return false;
  });
}

/** What needs no library, as far as this kernel has it. */
export function kernelPart(all: readonly Probe[], { tracepoints: here }: Pick<Capabilities, "tracepoints">, note: Note): ProgramPart {
  const probes = all.filter(({ library, tracepoints = [], summary, fuller }) => {
    if (library) return false;
    const missing = tracepoints.filter((name) => !here.has(name));
    const unseen = (what: string, lacks: string) => note(`${what}: not seen here, this kernel has no ${lacks}`);
    if (missing.length > 0) unseen(summary, missing.join(", "));
    else if (fuller && !here.has(fuller.tracepoint)) unseen(fuller.summary, fuller.tracepoint);
    return missing.length === 0;
  });
  return { stream: "process", probes, sites: new Map() };
}

/** Where processes stop for these groups; none where nothing is waited for, or nobody may be stopped. `self`: llmprof. */
export function gateParts(groups: readonly LibraryGroup[], filter: Filter, self: number, note: Note): ProgramPart[] {
  // Of programs that start anywhere on the machine nobody is stopped for being started.
  const gate = gateFor(groups, filter.type !== "new");
  if (!gate) return [];
  if (filter.type === "everybody" || (filter.type !== "new" && filter.pids.includes(self))) {
    // It would be stopped itself, by what it starts to look at who stands.
    note("the target includes llmprof itself: nobody is stopped who maps a library, and of what comes later nothing is seen");
    return [];
  }
  return [{ stream: GATE_STREAM, probes: [gate], sites: new Map() }];
}

/** There is nothing in it that could be attached: bpftrace refuses such a program. */
export function isNowhere({ probes, sites }: ProgramPart): boolean {
  return probes.every(({ template, params }) => {
    const own = Object.values(params ?? {}).filter((param) => param.type === "site");
    return template === "" || (own.length > 0 && own.every((param) => (sites.get(siteKey(param)) ?? []).length === 0));
  });
}

/** One program for all of these that can share one: what it reads is laid out and numbered in one way. */
export function inPrograms(parts: readonly ProgramPart[]): ProgramPart[] {
  const programs: ProgramPart[][] = [];
  for (const part of parts) {
    const fitting = programs.find((others) => others.every((other) => fit(part, other)));
    if (fitting) fitting.push(part);
    else programs.push([part]);
  }
  return programs.map(inOne);
}

/** Whether two parts are about libraries of one kind, or of kinds that have nothing in common. */
function fit(one: ProgramPart, other: ProgramPart): boolean {
  if (one.table !== undefined && other.table !== undefined && JSON.stringify(one.table?.names) !== JSON.stringify(other.table?.names)) return false;
  const [getters, others] = [one, other].map(({ probes }) => new Set(probes.flatMap(offsetsOf).map(({ getter }) => getter)));
  return [...getters!].every((getter) => !others!.has(getter) || one.offsets?.get(getter) === other.offsets?.get(getter));
}

function inOne(parts: readonly ProgramPart[]): ProgramPart {
  const sites = new Map<string, readonly Site[]>();
  for (const [key, more] of parts.flatMap((part) => [...part.sites])) {
    // Two processes may have copies of a library of their own.
    sites.set(key, [...new Map([...sites.get(key) ?? [], ...more].map((site) => [site.attach, site])).values()]);
  }
  const offsets = new Map(parts.flatMap(({ offsets = [] }) => [...offsets]));
  return {
    stream: parts.length > 1 ? "target" : parts[0]!.stream,
    probes: [...new Set(parts.flatMap(({ probes }) => probes))],
    sites,
    offsets,
    table: parts.find(({ table }) => table !== undefined)?.table,
  };
}

/** The part, and beside it what stands on top of others where those leave no room on the stack. `isRaw`: such probes stand at raw tracepoints here. */
export function splitOnTop(part: ProgramPart, isRaw: boolean): readonly [ProgramPart, ...ProgramPart[]] {
  const onTop = isRaw && part.probes.some(({ deep }) => deep) ? part.probes.filter(standsOnTop) : [];
  if (onTop.length === 0) return [part];
  return [{ ...part, probes: part.probes.filter((probe) => !onTop.includes(probe)) }, { stream: "disks", probes: onTop, sites: new Map() }];
}
