import type { Field } from "../events/event.ts";
import type { Probe } from "../programs/probe.ts";
import { Kind, type StreamSchema } from "../programs/schema.ts";
import { probeOf } from "./dispatch.ts";
import { hostSchema } from "./host.ts";
import { either, isCount, isObject, isText, listOf, mapOf, shape } from "./json_shape.ts";

const types: readonly unknown[] = ["int", "time", "text"] satisfies Field["type"][];
const isField = shape({ name: isText, type: (value) => types.includes(value), unit: either(isText, (value) => value === undefined) });
const isRecord = shape({ name: isText, fields: listOf(isField) });
/** As a number is written: what JSON calls another name must not become the same kind. */
const kind = /^[1-9]\d{0,3}$/;
/** Names of the records that are no probe's: the window's two, and the reading of the clocks. */
const own: ReadonlyMap<string, number> = new Map([["window.open", Kind.open], ["window.close", Kind.close], ["clock", Kind.clock]]);

/**
 * Reads the first line of a stream back. Throws an Error that says in a sentence what is wrong with it. `name` is the stream's by its file;
 * records have to be those of the probes that `find` knows, because their decoders trust them.
 */
export function parseDescription(line: string, name: string, find: (probe: string) => Probe | undefined): StreamSchema {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch (cause) {
    throw new Error("its first line is no stream description.", { cause });
  }
  if (!isObject(json)) throw new Error("its first line is no stream description.");
  if (json.stream !== name) throw new Error("its first line describes another stream.");
  const { records, maps, disorderNs, buffers, rows } = json;
  if (!isObject(records)) throw new Error("its description has no 'records'.");
  if (!mapOf(isText)(maps)) throw new Error("its description's 'maps' is no object of texts.");
  if (!isCount(disorderNs)) throw new Error("its description's 'disorderNs' is no number of nanoseconds.");
  if (buffers !== undefined && !(isCount(buffers) && (buffers as number) > 0)) {
    throw new Error("its description's 'buffers' is no number of buffers.");
  }
  const [names, texts] = [new Set<string>(), new Set<string>()];
  for (const [key, record] of Object.entries(records)) {
    if (!kind.test(key)) throw new Error(`its description has a record of the kind ${quoted(key)}, which is no number from 1 to 9999.`);
    if (!isRecord(record)) throw new Error(`its description's record ${key} is not a name with fields.`);
    const { name, fields } = record as { name: string; fields: Field[] };
    if (names.has(name)) throw new Error(`its description has two kinds for the record ${quoted(name)}.`);
    names.add(name);
    checkRecord(Number(key), name, fields, find);
    if (fields.some(({ type }) => type === "text")) texts.add(name);
  }
  if (rows !== undefined && !listOf((name) => names.has(name as string) && !texts.has(name as string) && !own.has(name as string))(rows)) {
    throw new Error("its description's 'rows' is no list of its records that are numbers.");
  }
  return json as unknown as StreamSchema;
}

function checkRecord(kind: number, name: string, fields: readonly Field[], find: (probe: string) => Probe | undefined): void {
  const text = fields.findIndex(({ type }) => type === "text");
  if (text >= 0 && text < fields.length - 1) throw new Error(`its description's record ${quoted(name)} has a text before its end.`);
  if (own.has(name)) {
    if (own.get(name) !== kind || fields.length > 0) throw new Error(`its description's record ${quoted(name)} is not llmprof's own.`);
    return;
  }
  const known = declared(name, find);
  if (!known || signature(known) !== signature(fields)) {
    throw new Error(
      `its description's record ${quoted(name)} is not the one that this llmprof knows: use the llmprof that recorded it, or a newer one.`,
    );
  }
}

function declared(name: string, find: (probe: string) => Probe | undefined): readonly Field[] | undefined {
  const host = Object.values(hostSchema.records).find((record) => record.name === name);
  if (host) return host.fields;
  const records = find(probeOf(name))?.records ?? {};
  const short = name.slice(name.indexOf(".") + 1);
  return Object.hasOwn(records, short) ? records[short] : undefined;
}

/** What a decoder relies on: the types in their order, and which field names the process. */
function signature(fields: readonly Field[]): string {
  return fields.map(({ name, type, unit }) => `${name} ${type}${unit?.startsWith("subject") ? ` ${unit}` : ""}`).join(",");
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
