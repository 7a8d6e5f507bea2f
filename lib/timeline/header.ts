import type { Clock } from "../events/time.ts";
import { type Ceilings, parseCeilings } from "../machine/ceilings/ceilings.ts";
import { type Check, either, isFlag, isInteger, isNull, isNumber, isObject, isText, listOf, mapOf, shape, wrongField } from "./json_shape.ts";

/** What is known of a run when its first line is read. Kept in a recording, so a replay has it without asking the machine. */
export interface Header {
  readonly schemaVersion: 1;
  readonly llmprof: string;
  readonly command: string;
  /** Options that change what is analysed, as typed. */
  readonly options: Readonly<Record<string, string | number | boolean>>;
  readonly clock: Clock;
  /** The target's first process; -1 where none was known yet. */
  readonly target: { readonly pid: number; readonly argv: readonly string[]; readonly started: boolean };
  /** Only this process' tree belongs to the target (a run that waited saw every new process). */
  readonly root?: number;
  /**
   * Who belonged to that tree when it was known to be the target, the root's children first, then theirs, and so on: what told of their forks may have
   * been let go by then.
   */
  readonly tree?: readonly (readonly number[])[];
  readonly host: Readonly<Record<string, string | number | null>>;
  /** What the machine can do at most, where it was measured: see lib/machine/ceilings. */
  readonly ceilings?: readonly Ceilings[];
  readonly bpftrace: { readonly path: string; readonly version: string } | null;
}

/** The tree that alone belongs to the target, where it is one. */
export function treeIn({ root, tree = [] }: Header): { readonly tree?: readonly number[] } {
  return root === undefined ? {} : { tree: [root, ...tree.flat()] };
}

/** Each field with what it has to be, as check and in words. */
const fields: readonly (readonly [name: string, words: string, check: Check])[] = [
  ["llmprof", "no text", isText],
  ["command", "no text", isText],
  ["options", "no object of texts, numbers and flags", mapOf(either(isText, isNumber, isFlag))],
  ["clock", "no object", isObject],
  ["target", "no object", isObject],
  ["host", "no object of texts and numbers", mapOf(either(isText, isNumber, isNull))],
  ["ceilings", "no list of what the machine can do", either((value) => value === undefined, (value) => parseCeilings(value) !== null)],
  ["root", "no process id", either((value) => value === undefined, isInteger)],
  ["tree", "no list of lists of process ids", either((value) => value === undefined, listOf(listOf(isInteger)))],
  ["bpftrace", "no path and version", either(isNull, shape({ path: isText, version: isText }))],
];
const target: Readonly<Record<string, Check>> = { pid: isInteger, argv: listOf(isText), started: isFlag };

/** Reads a header back; clocks are decimal strings in JSON. Throws an Error that names the field at fault. */
export function parseHeader(json: unknown): Header {
  if (!isObject(json)) throw new Error("it holds no object.");
  if (json.schemaVersion !== 1) {
    throw new Error(`its schemaVersion is ${JSON.stringify(json.schemaVersion)?.slice(0, 100)}; this llmprof reads 1.`);
  }
  for (const [name, words, check] of fields) {
    if (!check(Object.hasOwn(json, name) ? json[name] : undefined)) throw new Error(`its field '${name}' is ${words}.`);
  }
  const wrong = wrongField(json.target as Record<string, unknown>, target);
  if (wrong !== undefined) throw new Error(`its field 'target.${wrong}' is not what it has to be.`);
  return { ...json, clock: parseClock(json.clock as Record<string, unknown>) } as unknown as Header;
}

/** Nanoseconds since boot or epoch in the 64 bits that traces have for them. */
const LATEST = 2n ** 63n;

function parseClock(clock: Readonly<Record<string, unknown>>): Clock {
  if (clock.name !== "boottime") throw new Error("its field 'clock.name' is not boottime.");
  const integer = (field: string, from: bigint): bigint => {
    const text = clock[field];
    if (typeof text !== "string" || !/^-?\d{1,19}$/.test(text)) throw new Error(`its field 'clock.${field}' is no integer.`);
    const value = BigInt(text);
    if (value < from || value >= LATEST) throw new Error(`its field 'clock.${field}' is out of range.`);
    return value;
  };
  return { name: "boottime", base: integer("base", 0n), realtimeOffset: integer("realtimeOffset", -LATEST) };
}

export function headerToJson(header: Header): unknown {
  const { clock } = header;
  return { ...header, clock: { name: clock.name, base: String(clock.base), realtimeOffset: String(clock.realtimeOffset) } };
}
