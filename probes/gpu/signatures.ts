import { type Layout, layoutOf } from "./layout.ts";
import { type Family, TABLES } from "./tables.ts";

export type { Family };

/** Functions that return nothing, or what is no number of an error: a text, a description. */
const VOID = new RegExp(
  "^(?:vk(?:Destroy|Free|Unmap|GetPhysicalDevice|GetBuffer|GetDeviceQueue)|(?:cuda|hip)(?:GetError|CreateChannelDesc)|" +
    "nccl(?:GetErrorString|GetLastError)|createInfer|getInferLibVersion)",
);

const TELLS_LAST = /^(?:cuda|hip)(?:GetLastError|PeekAtLastError)$/;

export type Kind =
  | "init"
  | "query"
  | "state"
  | "context"
  | "module"
  | "function"
  | "alloc"
  | "free"
  | "reserve"
  | "copy"
  | "prefetch"
  | "set"
  | "launch"
  | "graph"
  | "graphLaunch"
  | "capture"
  | "captured"
  | "stream"
  | "event"
  | "poll"
  | "sync"
  | "collective"
  | "group"
  | "submit"
  | "map"
  | "buffer"
  | "interop"
  | "profile";

/** A function as it is decoded. */
export interface Signature {
  /** Without the end of a version. */
  readonly name: string;
  readonly kind: Kind;
  /** Of an allocation, what kind of memory; of a copy, its direction, or what says it: `kind`, `types`, `peers` (types, of two GPUs), or `any`: addresses. */
  readonly variant: string;
  /** What is said of a call, by its words, in their order; as many as {@link WORDS} at most. */
  readonly words: readonly string[];
  /** Where each is found. What is given back comes first. */
  readonly sources: readonly string[];
  readonly layout: Layout;
  readonly isVoid: boolean;
  /** It returns what another call had failed with: nothing of how it went itself. */
  readonly tellsLast: boolean;
}

/** Words that a record has. */
export const WORDS = 4;

/** A function's name without what versions, and per-thread streams, put behind it. */
export function withoutVersion(name: string): string {
  return name.replace(/_(?:ptsz|ptds|spt)$/, "").replace(/_v\d+$/, "").replace(/_(?:ptsz|ptds|spt)$/, "");
}

const parsed = new Map<Family, ReadonlyMap<string, Signature>>();

/** The functions of a family by their names in {@link TABLES}. */
export function signaturesOf(family: Family): ReadonlyMap<string, Signature> {
  let table = parsed.get(family);
  if (!table) parsed.set(family, table = parse(TABLES[family]));
  return table;
}

/** How the names of all functions of a family begin: those that programs call, and those that compilers do. */
export function beginsOf(family: Family): string[] {
  return [...Map.groupBy(signaturesOf(family).keys(), (name) => name.startsWith("__")).values()].map(beginOf);
}

function beginOf([first = "", ...others]: readonly string[]): string {
  let length = first.length;
  for (const name of others) while (!name.startsWith(first.slice(0, length))) length--;
  return first.slice(0, length);
}

/** What is known of an exported function; undefined: nothing. */
export function signatureOf(family: Family, symbol: string): Signature | undefined {
  const table = signaturesOf(family);
  return table.get(symbol) ?? table.get(symbol.replace(/_(?:ptsz|ptds|spt)$/, "")) ?? table.get(withoutVersion(symbol));
}

/** Whether a function gives a process addresses on a GPU and does not say how much lies there: from then on not all of its memory is known. */
export function givesAddresses(name: string): boolean {
  return /IpcOpenMemHandle|MemOpenIpcHandle|GetGlobal|GetManaged|GetSymbolAddress|MappedBuffer|MappedPointer|GLMapBufferObject|GraphAddNode|MemAllocNode|ImportPointer/
    .test(name);
}

function parse(table: string): Map<string, Signature> {
  const signatures = new Map<string, Signature>();
  for (const line of table.trim().split("\n")) {
    const [head, ...rest] = line.split(" ");
    const [kind, variant = ""] = head!.split(":");
    const said = rest.filter((word) => word.includes("=")).map((word) => word.split("=") as [string, string]);
    // What the function gives comes first: the program reads it when the function returns.
    said.sort(([, a], [, b]) => Number(b.startsWith("*")) - Number(a.startsWith("*")));
    if (said.length > WORDS) throw new Error(`a record has no room for: ${line}`);
    for (const name of rest.filter((word) => !word.includes("="))) {
      signatures.set(name, {
        name: withoutVersion(name),
        kind: kind as Kind,
        variant,
        words: said.map(([word]) => word),
        sources: said.map(([, source]) => source),
        layout: layoutOf(said.map(([word]) => word), said.map(([, source]) => source)),
        isVoid: VOID.test(name),
        tellsLast: TELLS_LAST.test(name),
      });
    }
  }
  return signatures;
}
