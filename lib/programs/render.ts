import type { Field } from "../events/event.ts";
import { isReadByBpftrace, replaceSums, replaceWhole } from "./adding.ts";
import { type Filter, filterBlocks, filterPredicate } from "./filter.ts";
import { type Param, type Probe, type SiteParam, standsOnTop } from "./probe.ts";
import { attachPoint, quote } from "./quoting.ts";
import { printLine } from "./printed_lines.ts";
import { type Offsets, valueOf } from "./offsets.ts";
import { beginning, heartbeat, SELF, type WayOut } from "./prologue.ts";
import { isRepeating, replaceRepeats } from "./repeat.ts";
import { RotatingMaps } from "./rotating_maps.ts";
import { Kind, LINES, type StreamSchema } from "./schema.ts";
import { apart, type Piece } from "./pieces.ts";
import { type Block, parseTemplate, replaceConditions, replaceEmits } from "./template.ts";

/** What this bpftrace and this kernel can do, as far as the text of a program depends on it. */
export interface Dialect {
  /** `category:name`, or a field of one that not every kernel has, `category:name.field`. */
  hasTracepoint(name: string): boolean;
  /** Hardware counters, by bpftrace's names: `cpu-cycles`. */
  hasCounter(name: string): boolean;
  /**
   * How many buffers there are where each CPU has its own (bpftrace before 0.19): they are read one after another, and each record wakes their
   * reader. 0 where all share a ring buffer.
   */
  readonly perCpuBuffers: number;
  /** `for ($kv : @map)`. */
  readonly walksMaps: boolean;
  /** `(uint64)@map[key]` where `sum()` adds to it. */
  readonly readsSums: boolean;
  /** Raw tracepoints, with the kernel's own structures as they are since 5.17. */
  readonly rawTracepoints: boolean;
  /** `%rh`. */
  readonly printsHexadecimal: boolean;
  /** Bytes of a page of memory. */
  readonly pageBytes: number;
  readonly arch: "x86_64" | "aarch64";
}

/** Attach points for the functions of a `site` parameter; empty where none of them exists. See {@link Site}. */
export type ResolveSite = (param: SiteParam) => readonly string[];

export interface ProgramPlan {
  readonly stream: string;
  readonly probes: readonly Probe[];
  readonly filter: Filter;
  readonly offsets?: Offsets;
  /** `signalled`: opened by SIGWINCH and closed by SIGURG to bpftrace, so that counting begins and ends at one instant; `open`: always. */
  readonly window: "signalled" | "open";
}

export interface Program {
  readonly text: string;
  readonly unsafe: boolean;
  readonly schema: StreamSchema;
  /** What the kernel adds up while it counts is read by bpftrace: its being late is seen there. */
  readonly readsSums: boolean;
  /** Its texts have to be made hexadecimal as they come. */
  readonly escapes?: boolean;
  /** Attach points, in order. */
  readonly sites: readonly ProgramSite[];
}

export interface ProgramSite {
  readonly attach: string;
  readonly probe: string;
  /** What a hit sends, or of what there are as many; empty where most hits send nothing. */
  readonly records: readonly string[];
  /** Where several attach points share a block, whose hits cannot be told apart: how many they are. */
  readonly among?: number;
  /** Each hit prints its record, where those of other sites are rows. */
  readonly isPrinted?: boolean;
  /** Of a site whose hits send nothing: how many of them there are for each operator. */
  readonly perOperator?: number;
}

/** Several times as long as a thread waits on a busy machine until it runs again. */
const DISORDER_NS = 10e6;
/**
 * A record of so many bytes, fourteen numbers, is put together on the stack of its program. From memory that all programs on a processor share, where
 * bpftrace puts what is longer, a program at a raw tracepoint would take the record of the one that it interrupts: the kernel lets it run on top of others.
 */
const ON_STACK = 128;

/** Renders probes into one bpftrace program, in the dialect that 0.16 to 0.27 share. */
export function render(plan: ProgramPlan, dialect: Dialect, resolve: ResolveSite): Program {
  const isRaw = dialect.rawTracepoints && plan.probes.some(standsOnTop);
  const records: Record<string, { name: string; fields: readonly Field[] }> = {
    [Kind.open]: { name: "window.open", fields: [] },
    [Kind.close]: { name: "window.close", fields: [] },
    [Kind.clock]: { name: "clock", fields: [] },
  };
  const maps: Record<string, string> = {};
  const sites: SharedSite[] = [];
  const blocks: string[] = [];
  const way = wayOut(plan, dialect);
  const { rotating } = way;
  const closing: string[] = [], closed: string[] = [];
  const pieces: Piece[] = [];
  const walks = dialect.walksMaps && dialect.readsSums;
  let kind: number = Kind.first;
  const can = [...dialect.rawTracepoints ? ["raw"] : [], ...walks ? ["walks"] : []];
  const there = [plan.filter.type, plan.window, ...can, ...plan.probes.map((probe) => probe.name)];
  const isThere = (name: string) => name.includes(":") ? dialect.hasTracepoint(name) : there.includes(name);
  const has = (text: string) => replaceConditions(text, isThere);
  for (const probe of plan.probes) {
    const kinds = new Map<string, number>();
    for (const [record, fields] of Object.entries(probe.records)) {
      kinds.set(record, kind);
      records[kind++] = { name: `${probe.name}.${record}`, fields };
    }
    for (const map of Object.keys({ ...probe.maps, ...probe.sums })) maps[map] = `${probe.name}.${map}`;
    const sending = (text: string) => replaceEmits(text, ([record, ...args]) => emit(probe, record!, args, kinds, way));
    if (dialect.walksMaps) {
      if (probe.atClose !== undefined) closing.push(sending(has(probe.atClose)));
      if (probe.afterClose !== undefined) closed.push(sending(has(probe.afterClose)));
    }
    const template = has(probe.template);
    for (const block of parseTemplate(template)) {
      const attach = attachPoints(block, probe, dialect, resolve);
      if (attach.length === 0) continue;
      const { perOperator } = probe;
      const isSumming = Object.keys(probe.sums ?? {}).some((map) => block.body.includes(`@${map}[`));
      const sent = isSumming ? [] : [...block.body.matchAll(/EMIT\((\w+)/g)].map(([, record]) => record!);
      const emitted = sent.map((record) => `${probe.name}.${record}`);
      const hits = isSumming && block.attach[0] === `{{${perOperator?.site}}}` && { perOperator: perOperator!.hits };
      const isPrinted = dialect.perCpuBuffers > 0 && emitted.length > 0 && !emitted.some((record) => rotating?.takes(record));
      const shares = sharesOf(probe, block.attach[0]!);
      const among = attach.length > 1 && { among: attach.length };
      const told = shares ?? { records: emitted };
      sites.push(...attach.map((point) => ({ attach: point, probe: probe.name, ...told, ...among, ...isPrinted && { isPrinted }, ...hits })));
      const body = replaceWhole(replaceSums(replaceRepeats(block.body, dialect.walksMaps), dialect.readsSums), walks);
      pieces.push({ block: { ...block, body }, attach, probe, kinds });
    }
  }
  for (const { block, attach, probe, kinds } of dialect.perCpuBuffers > 0 ? apart(pieces) : pieces) {
    const literalOf = (name: string) => plan.window === "open" && isSelf(probe, name) ? NOBODY : literal(probe, name, dialect, resolve, plan.offsets);
    blocks.push(renderBlock(block, attach, probe, kinds, way, plan.filter, literalOf));
  }
  const repeats = dialect.walksMaps && plan.probes.some(({ template }) => isRepeating(template));
  const prologue = [
    ...isRaw ? [`config = { on_stack_limit = ${ON_STACK} }`] : [],
    ...beginning(plan, way, repeats, closing, closed),
    ...heartbeat(plan.probes, dialect.perCpuBuffers),
    ...(rotating?.blocks() ?? []),
  ];
  const text = [...prologue, ...filterBlocks(plan.filter), ...blocks].join("\n") + "\n";
  const buffers = dialect.perCpuBuffers > 0 && { buffers: dialect.perCpuBuffers };
  const schema = { stream: plan.stream, records, maps, disorderNs: DISORDER_NS, ...buffers, ...(rotating?.used && { rows: [...rotating.records] }) };
  const readsSums = plan.probes.some(({ maps, template }) => maps !== undefined || isReadByBpftrace(template, walks));
  return {
    text,
    sites: sites.map((site) => withAmong(site, sites)),
    unsafe: plan.probes.some((probe) => probe.unsafe),
    schema,
    readsSums,
    escapes: way.escapes,
  };
}

function wayOut({ probes }: ProgramPlan, { perCpuBuffers, printsHexadecimal }: Dialect): WayOut {
  const escapes = !printsHexadecimal;
  return perCpuBuffers > 0 ? { rotating: RotatingMaps.for(probes), line: `@${LINES} = count(); `, escapes } : { rotating: null, line: "", escapes };
}

function attachPoints(block: Block, probe: Probe, dialect: Dialect, resolve: ResolveSite): string[] {
  return block.attach.flatMap((point) => {
    const name = /^\{\{(\w+)\}\}$/.exec(point)?.[1];
    if (name) {
      const param = paramOf(probe, name);
      if (param.type === "tracepoint") {
        // One that an older kernel lacks is none of its probe's needs.
        if (!dialect.hasTracepoint(param.name)) return [];
        return [dialect.rawTracepoints ? `rawtracepoint:${param.raw}` : `tracepoint:${param.name}`];
      }
      return resolve(siteOf(probe, name)).map(attachPoint);
    }
    const [, kind, what] = /^(tracepoint|hardware):([\w-]+(?::\w+)?)/.exec(point) ?? [];
    const isHere = kind === "tracepoint" ? dialect.hasTracepoint(what!) : kind === "hardware" ? dialect.hasCounter(what!) : true;
    // How often: `interval:ms:{{interval}}`.
    return isHere ? [point.replace(/\{\{(\w+)\}\}$/, (_, name: string) => literal(probe, name, dialect, resolve))] : [];
  });
}

function renderBlock(
  block: Block,
  attach: readonly string[],
  probe: Probe,
  kinds: ReadonlyMap<string, number>,
  way: WayOut,
  filter: Filter,
  literalOf: (name: string) => string,
): string {
  // In one pass, and after the records: what is filled in is never looked at again, whatever it says.
  const filled = (text: string) =>
    text.replace(/FILTER|\bLOST\b|\{\{(\w+)\}\}/g, (word, name?: string) => {
      if (word === "LOST") return "@n = count()";
      return name === undefined ? filterPredicate(filter) : literalOf(name);
    });
  const body = filled(replaceEmits(block.body, ([record, ...args]) => emit(probe, record!, args, kinds, way)));
  return `${attach.join(",\n")}${block.predicate ? ` /${filled(block.predicate)}/` : ""} {${body}}`;
}

/** Counted in the kernel as it is sent: what does not arrive is known to be lost. */
function emit(
  probe: Probe,
  record: string,
  args: readonly string[],
  kinds: ReadonlyMap<string, number>,
  { rotating, line, escapes }: WayOut,
): string {
  const fields = probe.records[record];
  if (!fields) throw new Error(`${probe.name}: no record '${record}'`);
  if (args.length !== fields.length) throw new Error(`${probe.name}.${record}: ${fields.length} fields declared, ${args.length} given`);
  const kind = kinds.get(record)!;
  if (rotating?.takes(`${probe.name}.${record}`)) return `${rotating.store(kind, args)} @n = count()`;
  return `@n = count(); ${line}${printLine(kind, fields, args, line === "", escapes)}`;
}

/** What a site shares with others: see `Probe.share`. */
function sharesOf({ name, share = {} }: Probe, attach: string): Pick<SharedSite, "records" | "shared"> | undefined {
  const found = Object.entries(share).find(([start]) => attach.startsWith(`{{${start}`));
  return found && { records: found[1].map((record) => `${name}.${record}`), shared: `${name} ${found[0]}` };
}

/** A site that shares its records with all that have the same `shared`. */
interface SharedSite extends ProgramSite {
  readonly shared?: string;
}

function withAmong({ shared, ...site }: SharedSite, all: readonly SharedSite[]): ProgramSite {
  return shared === undefined ? site : { ...site, among: all.filter((other) => other.shared === shared).length };
}

function paramOf(probe: Probe, name: string): Param {
  const param = probe.params?.[name];
  if (!param) throw new Error(`${probe.name}: the template names an unknown parameter '${name}'`);
  return param;
}

function siteOf(probe: Probe, name: string): SiteParam {
  const param = paramOf(probe, name);
  if (param.type !== "site") throw new Error(`${probe.name}: '${name}' stands for an attach point and is no site`);
  return param;
}

/** A program that a person runs knows not who it is, and nobody opens its window. */
const NOBODY = String(2 ** 31 - 1);
const isSelf = (probe: Probe, name: string) => paramOf(probe, name).type === "self";

function literal(probe: Probe, name: string, dialect: Dialect, resolve: ResolveSite, offsets: Offsets = new Map()): string {
  const param = paramOf(probe, name);
  if (param.type === "offset") return String(valueOf(param, offsets));
  if (param.type === "exists") return resolve(siteOf(probe, param.site)).length > 0 ? "1" : "0";
  if (param.type === "at") return `(${dialect.rawTracepoints ? param.raw : param.tracepoint})`;
  if (param.type === "field") return `(${dialect.hasTracepoint(param.field) ? param.is : param.without})`;
  if (param.type === "page") return `(${param.value(dialect.pageBytes)})`;
  if (param.type === "arch") return `(${param[dialect.arch]})`;
  if (param.type === "int" && Number.isSafeInteger(param.value)) return String(param.value);
  if (param.type === "text") return quote(param.value);
  if (param.type === "self") return SELF;
  if (param.type === "begins") {
    return param.with.length === 0
      ? "0"
      : `(${param.with.map((start) => `strncmp(${param.text}, ${quote(start)}, ${start.length}) == 0`).join(" || ")})`;
  }
  throw new Error(`parameter '${name}' cannot stand in an expression`);
}
