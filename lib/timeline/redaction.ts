import { textOf } from "../events/text.ts";
import type { Probe } from "../programs/probe.ts";
import { OFFERED, ROWS, type StreamSchema } from "../programs/schema.ts";
import { probeOf } from "./dispatch.ts";
import { parseFact } from "./facts.ts";
import { splitBase } from "../events/time.ts";
import { LineFields } from "./line_fields.ts";
import { LineSplitter } from "./lines.ts";
import type { Pseudonyms } from "./pseudonyms.ts";
import type { StreamWriter } from "./recording.ts";
import type { StreamInput } from "./timeline.ts";

const decoder = new TextDecoder(), encoder = new TextEncoder();

/** How a record's text is replaced. */
type Replace = (bytes: Uint8Array) => string | null;

interface Shape {
  /** Blanks before the record's text; -1 where it has none. */
  readonly blanks: number;
  readonly replace: Replace;
}

/** Names of the maps whose rows are records, and of their counters. */
const ofRows = new RegExp(`^(?:${ROWS}|${OFFERED})`);

/** A line that no grammar fits, as the one that it stands for. */
const UNREADABLE = "?";

/**
 * Rewrites the lines of a stream where they enter, so that neither a recording nor a trace made of them holds what `--redact` hides: texts of
 * records by what they are, and of everything that is no record only what llmprof itself understands. There are as many lines as before.
 */
export class Redaction {
  readonly #shapes = new Map<string, Shape>();
  readonly #splitter = new LineSplitter();
  readonly #fields = new LineFields(splitBase(0n));

  constructor(readonly schema: StreamSchema, names: Pseudonyms, find: (probe: string) => Probe | undefined) {
    for (const [kind, { name, fields }] of Object.entries(schema.records)) {
      const text = fields.findIndex(({ type }) => type === "text");
      this.#shapes.set(kind, {
        blanks: text < 0 ? -1 : 3 + text,
        replace: text < 0 ? () => null : replacement(name, fields[text]!.name, names, find),
      });
    }
  }

  push(bytes: Uint8Array): Uint8Array {
    let text = "";
    this.#splitter.push(bytes, (block, from, to) => {
      for (const line of decoder.decode(block.subarray(from, to - 1)).split("\n")) text += `${this.#line(line)}\n`;
    });
    return encoder.encode(text);
  }

  /** The line that has no end: it is not believed, so that nothing of it is needed but whether it was a map's. */
  rest(): Uint8Array {
    const rest = this.#splitter.rest();
    return encoder.encode(rest === "" ? "" : rest.startsWith("@") ? "@" : UNREADABLE);
  }

  #line(line: string): string {
    if (line === "" || line === "ready") return line;
    const lost = /^Lost \d+ events/.exec(line);
    if (lost) return lost[0];
    if (line.startsWith("@")) return this.#map(line);
    if (/^\([-\d, ]+\)$/.test(line)) return line;
    const shape = this.#shapes.get(/^\d+/.exec(line)?.[0] ?? "");
    if (!shape) return UNREADABLE;
    if (shape.blanks < 0) return /^[\d .-]*(?: x[\da-f]{1,16})?$/.test(line) ? line : UNREADABLE;
    let from = 0;
    for (let blanks = 0; blanks < shape.blanks; blanks++) if ((from = line.indexOf(" ", from) + 1) === 0) return UNREADABLE;
    this.#fields.begin(encoder.encode(`${line.slice(from)}\n`), 0);
    const bytes = this.#fields.bytes();
    const head = line.slice(0, from);
    const told = bytes && /^[\d -]*$/.test(head) ? shape.replace(bytes) : null;
    return told === null ? UNREADABLE : head + hex(told);
  }

  /** Of a program's own maps nobody reads more than that they are there. */
  #map(line: string): string {
    // Sums, and rows that are records: numbers alone.
    if (/^@\w+(\[[-\d, ]*\])?: [-\d, ()]+$/.test(line)) return line;
    const name = /^@(\w*)(\[[^\]]*\])?: /.exec(line)?.[1];
    if (name === undefined) return UNREADABLE;
    return name === "n" || Object.hasOwn(this.schema.maps, name) || (this.schema.rows && ofRows.test(name)) ? UNREADABLE : "";
  }
}

function replacement(record: string, field: string, names: Pseudonyms, find: (probe: string) => Probe | undefined): Replace {
  if (record === "host.fact") {
    return (bytes) => {
      const fact = parseFact(textOf(bytes));
      return fact && JSON.stringify(names.fact(fact));
    };
  }
  const texts = find(probeOf(record))?.texts ?? {};
  const key = `${record.slice(record.indexOf(".") + 1)}.${field}`;
  const kind = Object.hasOwn(texts, key) ? texts[key] : "path";
  return kind === "model" ? (bytes) => textOf(bytes) : kind === "name" ? (bytes) => names.name(textOf(bytes)) : (bytes) => names.path(textOf(bytes));
}

/** With a NUL at its end, as a program sends it: a text without one would be taken for the beginning of a longer one. */
function hex(text: string): string {
  return [...encoder.encode(text), 0].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
}

/** Where a stream's bytes go under `--redact`: rewritten, first to the recording and then to the timeline. */
export function redacted(redaction: Redaction, input: StreamInput, writer: StreamWriter | null): StreamInput {
  const pass = (bytes: Uint8Array) => {
    if (bytes.length === 0) return;
    writer?.write(bytes);
    input.write(bytes);
  };
  return {
    write: (bytes) => pass(redaction.push(bytes)),
    close: () => {
      pass(redaction.rest());
      input.close();
      writer?.close();
    },
  };
}
