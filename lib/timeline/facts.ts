import type { Fact } from "../events/fact.ts";
import {
  type Check,
  either,
  isAbsent,
  isCount,
  isFlag,
  isInteger,
  isNull,
  isNumber,
  isObject,
  isText,
  listOf,
  mapOf,
  shape,
  wrongField,
} from "./json_shape.ts";

const stalls = either(isNull, shape({ avg10: isNumber, avg60: isNumber, avg300: isNumber, total: isNumber }));
const resource = shape({ some: stalls, full: stalls });
const isPressure = shape({ cpu: resource, io: resource, memory: resource });

/** What a recording's host stream may tell, by kind. */
const fields: { readonly [Kind in Fact["fact"]]: Readonly<Record<Exclude<keyof Extract<Fact, { fact: Kind }>, "fact">, Check>> } = {
  program: {
    stream: isText,
    sites: listOf(shape({
      probe: isText,
      site: isText,
      cost: isText,
      records: listOf(isText),
      among: either(isAbsent, isCount),
      functions: either(isAbsent, mapOf(listOf(isText))),
      perOperator: either(isAbsent, isNumber),
    })),
  },
  table: { stream: either(isAbsent, isText), symbol: isText, file: isText, names: listOf(isText) },
  code: {
    pid: isInteger,
    of: either(isAbsent, isText),
    ranges: listOf(shape({ at: isCount, bytes: isCount, file: isText })),
    functions: listOf(shape({ at: isCount, bytes: isCount, name: isText })),
  },
  places: { pid: isInteger, places: listOf(shape({ at: isCount, file: isText, name: either(isText, isNull), offset: isCount })) },
  mapped: {
    pid: isInteger,
    files: listOf(
      shape({ at: isCount, bytes: isCount, offset: isCount, dev: isCount, inode: isCount, file: isText, isCode: either(isAbsent, isFlag) }),
    ),
  },
  opened: { pid: isInteger, files: listOf(shape({ dev: isCount, inode: isCount, file: isText })) },
  names: { pid: isInteger, name: isText, threads: listOf(shape({ tid: isInteger, name: isText })) },
  tensors: { dev: isCount, inode: isCount, tensors: listOf(shape({ name: isText, offset: isCount })) },
  lost: { stream: isText, count: isCount },
  skipped: { stream: isText, count: isCount },
  discarded: { stream: isText, count: isCount },
  ended: { pid: isInteger },
  engine: {
    engine: either(isText, isNull),
    version: either(isText, isNull),
    model: either(isText, isNull),
    quantisation: either(isText, isNull),
    threads: either(isCount, isNull),
    affinity: either(isText, isNull),
  },
  exit: { pid: isInteger, code: isInteger, signal: either(isText, isNull) },
  cpu: { bpftrace: isNumber, llmprof: isNumber },
  overhead: {
    predicted: either(isNumber, isNull),
    measured: either(isNumber, isNull),
    calibrated: isFlag,
    unpriced: either(isAbsent, listOf(isText)),
    details: either(isAbsent, mapOf(either(isNumber, isNull))),
  },
  pressure: {
    pressure: isPressure,
    stolen: either(isAbsent, shape({ ns: isNumber, busyNs: isNumber })),
    group: either(isAbsent, isPressure),
    moves: either(isAbsent, isCount),
  },
  disks: { disks: listOf(shape({ dev: isCount, name: either(isAbsent, isText), requests: isCount })) },
  memory: {
    memory: shape({
      processes: listOf(shape({
        pid: isInteger,
        resident: isCount,
        locked: isCount,
        swapped: isCount,
        nodes: either(isAbsent, listOf(shape({ node: isCount, bytes: isCount }))),
      })),
      available: isCount,
      pageCache: isCount,
      swappedIn: isCount,
      swappedOut: isCount,
    }),
  },
  affinity: { pid: isInteger, affinity: isText, threads: listOf(shape({ tid: isInteger, affinity: isText })) },
  gpus: {
    gpus: listOf(shape({
      gpu: isCount,
      busy: either(isNumber, isNull),
      memoryBusy: either(isNumber, isNull),
      memoryUsed: either(isNumber, isNull),
      memoryTotal: either(isNumber, isNull),
      clock: either(isNumber, isNull),
      power: either(isNumber, isNull),
      temperature: either(isNumber, isNull),
      throttled: listOf(isText),
    })),
  },
  limits: {
    pid: isInteger,
    moves: either(isAbsent, isCount),
    limits: shape({
      cpus: either(isNumber, isNull),
      throttled: isCount,
      throttledNs: isNumber,
      memoryLimit: either(isNumber, isNull),
      memoryHigh: either(isAbsent, isNumber),
      memoryBytes: either(isNumber, isNull),
      heldBack: either(isAbsent, isCount),
      killed: isCount,
      refaultedBytes: either(isAbsent, isCount),
      reads: listOf(shape({ device: isText, bytes: either(isCount, isNull), requests: either(isCount, isNull) })),
    }),
  },
  wallClock: { shiftMs: isNumber },
  tracers: { threads: listOf(isInteger) },
  note: { text: isText, files: either(isAbsent, listOf(isText)), names: either(isAbsent, listOf(isText)) },
};

/** Reads a fact; null when it is none that this llmprof knows. */
export function parseFact(json: string): Fact | null {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return null;
  }
  if (!isObject(value) || typeof value.fact !== "string" || !Object.hasOwn(fields, value.fact)) return null;
  return wrongField(value, fields[value.fact as Fact["fact"]]) === undefined ? value as unknown as Fact : null;
}
