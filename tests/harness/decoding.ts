import type { Decoder, Value } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import { type SingleSpan, singly } from "../../lib/events/chain.ts";
import type { Span } from "../../lib/events/span.ts";
import { Tracks } from "../../lib/events/tracks.ts";
import { pidOf, tidOf } from "../../lib/programs/who.ts";
import type { Probe } from "../../lib/programs/probe.ts";

/** Fields of a record by name: a test says only those that it is about, the others are 0 or empty. */
type Fields = Readonly<Record<string, Value>>;

/** Feeds a probe's decoder with events that nobody had to trace, and tells its spans in one line each. */
export class Decoding {
  /** As they come; {@link told} and {@link ending} tell of chains one by one. */
  readonly spans: Span[] = [];
  /** Of the program whose events and counts come. */
  stream = "test";
  readonly #decoder: Decoder;
  readonly #records = new Map<string, Probe["records"][string]>();

  /** `others`: probes whose records it sees besides its own. */
  constructor(probe: Probe, ...others: readonly Probe[]) {
    this.#decoder = probe.decoder(new Tracks());
    for (const { name, records } of [probe, ...others]) {
      for (const [record, fields] of Object.entries(records)) this.#records.set(`${name}.${record}`, fields);
    }
  }

  /** `who`: process and thread, `100` or `100/101`. Throws when the record has no such field. */
  event(at: number, record: string, fields: Fields = {}, who = "100"): void {
    const declared = this.#records.get(record);
    if (!declared) throw new Error(`no record ${record}`);
    const unknown = Object.keys(fields).find((name) => !declared.some((field) => field.name === name));
    if (unknown) throw new Error(`${record} has no field ${unknown}`);
    const values = declared.map(({ name, type }) => fields[name] ?? (type === "text" ? "" : 0));
    const subject = declared.findIndex(({ unit }) => unit?.startsWith("subject"));
    const about = declared[subject]?.unit === "subject thread"
      ? `${pidOf(Number(values[subject]))}/${tidOf(Number(values[subject]))}`
      : String(values[subject]);
    const [pid, tid = pid] = (subject < 0 ? who : about).split("/").map(Number) as [number, number?];
    this.#decoder.event({ at, stream: this.stream, record, pid, tid, values }, this.#out);
  }

  snapshot(at: number, map: string, key: readonly number[], value: number): void {
    this.#decoder.snapshot!({ at, stream: this.stream, map, key, value }, this.#out);
  }

  fact(at: number, fact: Fact): void {
    this.#decoder.fact!(fact, at, this.#out);
  }

  end(at: number): string[] {
    this.#decoder.end(at, this.#out);
    return this.told();
  }

  /** The same spans as they are. */
  ending(at: number): readonly SingleSpan[] {
    this.#decoder.end(at, this.#out);
    return this.spans.splice(0).flatMap(singly);
  }

  /** llmprof's heartbeat. */
  beat(): void {
    this.#decoder.beat?.(this.#out);
  }

  /** Each span since the last call: `100/101 file.read "read a.gguf" 10–20 bytes=5 …`. */
  told(): string[] {
    return this.spans.splice(0).flatMap(singly).map(tell);
  }

  readonly #out = (span: Span) => void this.spans.push(span);
}

/** A span in one line, a chain in as many as it stands for. */
export function tell(span: Span): string {
  if (span.type === "chain") return singly(span).map(tell).join("\n");
  if (span.type === "mark") return `mark ${span.kind} ${span.at} ${span.stream}: ${span.text}${span.count === undefined ? "" : ` (${span.count})`}`;
  const { track } = span;
  const row = track.kind === "thread" ? `${track.pid}/${track.tid}` : track.kind === "process" ? `${track.pid}` : `${track.pid} <${track.name}>`;
  if (span.type === "counter") return `${row} = ${span.value} at ${span.at}`;
  if (span.type === "name") return `${row} is called "${span.name}" from ${span.at}`;
  const when = span.type === "slice" ? `${span.start}–${span.end}${span.open ? " (open)" : ""}` : `${span.at}`;
  const args = Object.entries(span.args ?? {}).map(([name, value]) => ` ${name}=${value}`).join("");
  return `${row} ${span.category} "${span.name}" ${when}${args}`;
}
