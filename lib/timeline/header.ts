import type { Clock } from "../events/time.ts";

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
  readonly host: Readonly<Record<string, string | number | null>>;
  readonly bpftrace: { readonly path: string; readonly version: string } | null;
}

/** Reads a header back; clocks are decimal strings in JSON. Throws an Error that names the field at fault. */
export function parseHeader(json: unknown): Header {
  const header = json as Record<string, unknown>;
  if (typeof header !== "object" || header === null) throw new Error("it holds no object.");
  if (header.schemaVersion !== 1) throw new Error(`its schemaVersion is ${JSON.stringify(header.schemaVersion)}; this llmprof reads 1.`);
  for (const field of ["llmprof", "command"]) if (typeof header[field] !== "string") throw new Error(`its field '${field}' is no text.`);
  for (const field of ["options", "target", "host"]) {
    if (typeof header[field] !== "object" || header[field] === null) throw new Error(`its field '${field}' is no object.`);
  }
  return { ...header, clock: parseClock(header.clock) } as Header;
}

function parseClock(json: unknown): Clock {
  const clock = json as Record<string, unknown> | null;
  const integer = (field: string): bigint => {
    const text = clock?.[field];
    if (typeof text !== "string" || !/^-?\d{1,20}$/.test(text)) throw new Error(`its field 'clock.${field}' is no integer.`);
    return BigInt(text);
  };
  return { name: "boottime", base: integer("base"), realtimeOffset: integer("realtimeOffset") };
}

export function headerToJson(header: Header): unknown {
  const { clock } = header;
  return { ...header, clock: { name: clock.name, base: String(clock.base), realtimeOffset: String(clock.realtimeOffset) } };
}
