import { ExitCode, LlmprofError } from "../events/errors.ts";
import type { StreamSchema } from "../programs/schema.ts";
import { type Header, headerToJson, parseHeader } from "./header.ts";
import type { RecordingSource, StreamSource } from "./recording_source.ts";
import { type StreamInput, Timeline, type TimelineOptions } from "./timeline.ts";

/** One stream of a recording as it is written: the schema in the first line, then the bytes as they came. */
export interface StreamWriter {
  write(bytes: Uint8Array): void;
  close(): void;
}

/** A recording is a directory: `header.json`, and `<stream>.lines` for each stream. It is a tap on the lines, nothing more. */
export class RecordingWriter {
  private constructor(readonly path: string) {}

  /** Fails when the directory exists: a recording is never mixed with another. */
  static create(path: string, header: Header): RecordingWriter {
    Deno.mkdirSync(path, { recursive: false });
    Deno.writeTextFileSync(`${path}/header.json`, JSON.stringify(headerToJson(header), null, 2) + "\n");
    return new RecordingWriter(path);
  }

  stream(schema: StreamSchema): StreamWriter {
    const file = Deno.openSync(`${this.path}/${schema.stream}.lines`, { write: true, createNew: true });
    const write = (bytes: Uint8Array) => {
      for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
    };
    write(new TextEncoder().encode(JSON.stringify(schema) + "\n"));
    return { write, close: () => file.close() };
  }
}

const BLOCK = 64 * 1024;

/** Replays a recording: always the stream that holds the others back, a block at a time, so memory does not grow with its length. */
export function replay(source: RecordingSource, start: (header: Header) => TimelineOptions): { header: Header; timeline: Timeline } {
  const header = readHeader(source);
  const timeline = new Timeline(start(header));
  const streams = new Map<string, () => void>();
  for (const name of source.streams()) openStream(`${source.name}: stream ${name}`, source.open(name), timeline, streams);
  for (let next = timeline.slowest(); next !== undefined; next = timeline.slowest()) streams.get(next)!();
  timeline.finish();
  return { header, timeline };
}

function openStream(path: string, file: StreamSource, timeline: Timeline, streams: Map<string, () => void>): void {
  const buffer = new Uint8Array(BLOCK);
  const [schema, rest] = readSchema(path, file, buffer);
  const input: StreamInput = timeline.add(schema);
  let first: Uint8Array | undefined = rest;
  streams.set(schema.stream, () => {
    if (first) {
      input.write(first);
      first = undefined;
      return;
    }
    const n = file.read(buffer);
    if (n !== null) return input.write(buffer.subarray(0, n));
    file.close();
    input.close();
  });
}

/** The schema, and the bytes that were read beyond it. */
function readSchema(path: string, file: StreamSource, buffer: Uint8Array): [StreamSchema, Uint8Array] {
  let head = new Uint8Array();
  for (let n = file.read(buffer); n !== null; n = file.read(buffer)) {
    const joined = new Uint8Array(head.length + n);
    joined.set(head);
    joined.set(buffer.subarray(0, n), head.length);
    head = joined;
    const end = head.indexOf(10);
    if (end >= 0) {
      try {
        return [JSON.parse(new TextDecoder().decode(head.subarray(0, end))), head.slice(end + 1)];
      } catch (cause) {
        throw unreadable(path, "its first line is no stream description.", cause);
      }
    }
  }
  throw unreadable(path, "it ends before its first line does.");
}

export function readHeader(source: RecordingSource): Header {
  let text: string;
  try {
    text = source.header();
  } catch (cause) {
    throw unreadable(source.name, "it has no header.json.", cause);
  }
  try {
    return parseHeader(JSON.parse(text));
  } catch (cause) {
    throw unreadable(`${source.name}/header.json`, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function unreadable(path: string, why: string, cause?: unknown): LlmprofError {
  return new LlmprofError(ExitCode.failed, `Cannot read the recording ${path}:`, why, "Name a directory that llmprof wrote with -o NAME.llmprof.", {
    cause,
  });
}
