import * as z from "zod";
import type { Field } from "../../lib/events/event.ts";
import type { StreamSchema } from "../../lib/programs/schema.ts";

/**
 * How many lines of a stream say nothing that llmprof can understand, counted by a grammar of its own: regular expressions out of the stream's
 * description, and schemas for facts. It shares no code with the parser that it judges.
 */
export function undecodableLines(bytes: Uint8Array, base: bigint): number {
  const [first, ...lines] = new TextDecoder().decode(bytes).split("\n");
  const schema: StreamSchema = JSON.parse(first!);
  const grammar = new Grammar(schema, base);
  // What follows the last line end is a line that was cut. Behind the last count nobody reads a map to its end.
  const cut = lines.pop()!;
  const isMissed = cut !== "" && !(cut.startsWith("@") && isCounted(lines, BigInt(schema.disorderNs)));
  return lines.filter((line) => !grammar.fits(line)).length + (isMissed ? 1 : 0);
}

/** The kernel's count was printed behind a heartbeat that promises that nothing from before the window's end follows. */
function isCounted(lines: readonly string[], disorder: bigint): boolean {
  const closed = lines.findIndex((line) => /^2 \d+ /.test(line));
  if (closed < 0) return false;
  const end = BigInt(lines[closed]!.split(" ")[1]!);
  const beat = lines.findIndex((line, i) => i > closed && BigInt(/^\(9, (\d+)\)$/.exec(line)?.[1] ?? 0) - disorder > end);
  return beat >= 0 && lines.findIndex((line, i) => i > beat && /^@n: \d{1,18}$/.test(line)) >= 0;
}

const id = (digits: string | undefined) => Number(digits) >= 0 && Number(digits) < 2 ** 31;
/** Of a process and a thread of 22 bits each, the latter. */
const thread = 2n ** 22n - 1n;
/** A process and a thread of 22 bits each. */
const who = (digits: string | undefined) => BigInt(digits!) >> 44n === 0n;
const patterns: Record<Field["type"], string> = {
  int: "(-?\\d+)",
  time: "(\\d+)",
  text: "((?:[0-9a-f]{2} )*[0-9a-f]{2} ?|(?:[0-9a-f]{2} )*00(?: .*)?)",
};

/** A line or row, with its time, who it is about and its fields in a group each. */
interface Form {
  readonly name: string;
  readonly fields: readonly Field[];
  readonly text: RegExp;
}

class Grammar {
  readonly #lines = new Map<string, Form>();
  /** Kinds of records that may be told in the short form. */
  readonly #short = new Set<string>();
  /** By probe: threads whose process a line of it has told. */
  readonly #threads = new Map<string, Set<bigint>>();
  readonly #rows: Form[] = [];
  readonly #latest: bigint;

  constructor(readonly schema: StreamSchema, base: bigint) {
    this.#latest = base + 2n ** 63n - 1024n;
    for (const [kind, { name, fields }] of Object.entries(schema.records)) {
      const parts = [patterns.int, ...fields.map(({ type }) => patterns[type])];
      const rest = name === "clock" ? " .*" : parts.map((part) => ` ${part}`).join("");
      if (fields.length === 1 && fields[0]!.unit === "aligned address") this.#short.add(kind);
      this.#lines.set(kind, { name, fields, text: new RegExp(`^${kind} (\\d+)${rest}$`, "s") });
      if (!schema.rows?.includes(name)) continue;
      // A CPU stands beside its time, and zeros fill it up.
      const tuple = [kind, ...parts].join(", ");
      this.#rows.push({ name, fields, text: new RegExp(`^@rows[0-2]\\[(\\d+), (?:\\d{1,18}|-0+)\\]: \\(${tuple}(?:, -?0+)*\\)$`) });
    }
  }

  fits(line: string): boolean {
    if (line === "" || line === "ready" || /^Lost \d{1,15} events/.test(line)) return true;
    if (this.schema.rows && line.startsWith("@rows")) return this.#rows.some((row) => this.#record(row, line));
    if (this.schema.rows && line.startsWith("@offered")) return /^@offered[0-2]: \d{1,15}$/.test(line);
    if (line.startsWith("@")) return this.#map(line);
    const told = (this.schema.rows ? /^\([89], (\d+)\)$/ : /^\(9, (\d+)\)$/).exec(line);
    if (told) return this.#time(told[1]);
    const kind = /^[1-9]\d*/.exec(line)?.[0] ?? "";
    const form = this.#lines.get(kind);
    if (form === undefined) return false;
    const [, at, number] = (this.#short.has(kind) && /^\d+ (\d+) x([0-9a-f]{1,16})$/.exec(line)) || [];
    if (number !== undefined) return this.#time(at) && this.#threadsOf(form).has(BigInt(`0x${number}`) & thread);
    const fits = this.#record(form, line);
    if (fits && form.name !== "clock" && !this.#short.has(kind)) this.#threadsOf(form).add(BigInt(line.split(" ")[2]!) & thread);
    return fits;
  }

  #threadsOf({ name }: Form): Set<bigint> {
    const probe = name.split(".")[0]!;
    const threads = this.#threads.get(probe) ?? new Set();
    this.#threads.set(probe, threads);
    return threads;
  }

  #record({ name, fields, text }: Form, line: string): boolean {
    const found = text.exec(line);
    if (!found || !this.#time(found[1])) return false;
    if (name === "clock") return true;
    const [, , ids, ...values] = found;
    if (!who(ids)) return false;
    return fields.every(({ type, unit }, i) => {
      if (type === "time" && !this.#time(values[i])) return false;
      if (type === "int" && (BigInt(values[i]!) >= 2n ** 63n - 512n || BigInt(values[i]!) <= 512n - 2n ** 63n)) return false;
      if (unit === "subject" && !id(values[i])) return false;
      if (unit === "subject thread" && !who(values[i])) return false;
      return name !== "host.fact" || fact.safeParse(json(values[i]!)).success;
    });
  }

  #time(digits: string | undefined): boolean {
    return BigInt(digits!) < this.#latest;
  }

  /** Rows of llmprof's own maps are sums; a program's other maps are nobody's concern. */
  #map(line: string): boolean {
    const name = /^@(\w*)(?:\[[^\]]*\])?: /.exec(line)?.[1];
    if (name === undefined) return false;
    if (name !== "n" && !Object.hasOwn(this.schema.maps, name)) return true;
    return /^@\w+(\[-?\d{1,19}(, -?\d{1,19})*\])?: \d{1,18}$/.test(line);
  }
}

function json(hex: string): unknown {
  const bytes = hex.trim().split(" ").map((pair) => parseInt(pair, 16));
  const end = bytes.indexOf(0);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(end < 0 ? bytes : bytes.slice(0, end))));
  } catch {
    return undefined;
  }
}

const count = z.int().min(0);
const site = z.object({
  probe: z.string(),
  site: z.string(),
  cost: z.string(),
  records: z.array(z.string()),
  among: count.optional(),
  functions: z.record(z.string(), z.array(z.string())).optional(),
  perOperator: z.number().optional(),
});
const stalls = z.object({ avg10: z.number(), avg60: z.number(), avg300: z.number(), total: z.number() }).nullable();
const resource = z.object({ some: stalls, full: stalls });
const pressure = z.object({ cpu: resource, io: resource, memory: resource });
const stolen = z.object({ ns: z.number(), busyNs: z.number() });
const mapped = z.object({ at: count, bytes: count, offset: count, dev: count, inode: count, file: z.string(), isCode: z.boolean().optional() });
const fact = z.discriminatedUnion("fact", [
  z.object({ fact: z.literal("program"), stream: z.string(), sites: z.array(site) }),
  z.object({ fact: z.literal("table"), stream: z.string().optional(), symbol: z.string(), file: z.string(), names: z.array(z.string()) }),
  z.object({ fact: z.literal(["lost", "skipped", "discarded"]), stream: z.string(), count }),
  z.object({ fact: z.literal("exit"), pid: z.int(), code: z.int(), signal: z.string().nullable() }),
  z.object({ fact: z.literal("cpu"), bpftrace: z.number(), llmprof: z.number() }),
  z.object({ fact: z.literal("ended"), pid: z.int() }),
  z.object({
    fact: z.literal("engine"),
    engine: z.string().nullable(),
    version: z.string().nullable(),
    model: z.string().nullable(),
    quantisation: z.string().nullable(),
    threads: z.int().nullable(),
    affinity: z.string().nullable(),
  }),
  z.object({ fact: z.literal("mapped"), pid: z.int(), files: z.array(mapped) }),
  z.object({ fact: z.literal("tensors"), dev: count, inode: count, tensors: z.array(z.object({ name: z.string(), offset: count })) }),
  z.object({
    fact: z.literal("overhead"),
    predicted: z.number().nullable(),
    measured: z.number().nullable(),
    calibrated: z.boolean(),
    unpriced: z.array(z.string()).optional(),
    details: z.record(z.string(), z.number().nullable()).optional(),
  }),
  z.object({ fact: z.literal("pressure"), pressure, stolen: stolen.optional(), group: pressure.optional(), moves: count.optional() }),
  z.object({
    fact: z.literal("memory"),
    memory: z.object({
      processes: z.array(
        z.object({
          pid: z.int(),
          resident: count,
          locked: count,
          swapped: count,
          nodes: z.array(z.object({ node: count, bytes: count })).optional(),
        }),
      ),
      available: count,
      pageCache: count,
      swappedIn: count,
      swappedOut: count,
    }),
  }),
  z.object({ fact: z.literal("note"), text: z.string() }),
]);
