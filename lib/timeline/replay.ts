import { ExitCode, LlmprofError } from "../events/errors.ts";
import { RefusedFile } from "../machine/regular_file.ts";
import { lacksFiles } from "../machine/system_limits.ts";
import { isAbsent, whyNot } from "../machine/why_not.ts";
import { type Header, parseHeader } from "./header.ts";
import type { Pseudonyms } from "./pseudonyms.ts";
import { MOST_STREAMS, type Recorder, type StreamWriter } from "./recording.ts";
import { redacted, Redaction } from "./redaction.ts";
import type { RecordingSource, StreamSource } from "./recording_source.ts";
import { parseDescription } from "./stream_description.ts";
import { type StreamInput, Timeline, type TimelineOptions } from "./timeline.ts";

const BLOCK = 64 * 1024;
/** Longer than any first line that llmprof writes. */
const LONGEST_DESCRIPTION = 1 << 20;

export interface ReplayOptions extends Omit<TimelineOptions, "find"> {
  /** Another recording of it: what is read goes there, too. */
  readonly recording?: Recorder | null;
}

export interface Replayed {
  readonly header: Header;
  readonly timeline: Timeline;
  /** Nothing was left out. */
  readonly isWhole: boolean;
}

/**
 * Replays a recording: always the stream that holds the others back, a block at a time, so memory does not grow with its length. `find`: its probes.
 * `start` is called when every stream is known to be readable. `pseudonyms`: of a recording that was made without `--redact`, nothing is told that it
 * hides. Before each block it is asked whether the replay goes on: what follows may be left out.
 */
export function* replayInBlocks(
  source: RecordingSource,
  find: TimelineOptions["find"],
  start: (header: Header) => ReplayOptions,
  pseudonyms?: Pseudonyms,
): Generator<void, Replayed, boolean> {
  const recorded = readHeader(source);
  // Already redacted, it would only be numbered anew.
  const hidden = recorded.options.redact ? undefined : pseudonyms;
  const header = hidden?.header(recorded) ?? recorded;
  const names = opened(source.name, () => source.streams());
  if (names.length > MOST_STREAMS) throw unreadable(source.name, `it has ${names.length} streams; a run has at most ${MOST_STREAMS}.`);
  const readable = names.map((name) => openStream(source, name, find));
  const { recording, ...options } = start(header);
  const timeline = new Timeline({ ...options, find });
  const streams = new Map<string, () => void>();
  for (const { schema, readInto } of readable) {
    const added = timeline.add(schema), writer = recording?.stream(schema) ?? null;
    streams.set(schema.stream, readInto(hidden ? redacted(new Redaction(schema, hidden, find), added, writer) : alsoInto(writer, added)));
  }
  for (let next = timeline.slowest(); next !== undefined; next = timeline.slowest()) {
    if (yield) streams.get(next)!();
    else {
      timeline.cutOff();
      return { header, timeline, isWhole: false };
    }
  }
  timeline.finish();
  return { header, timeline, isWhole: true };
}

/** The same without a pause, to its end. */
export function replay(...given: Parameters<typeof replayInBlocks>): Replayed {
  const blocks = replayInBlocks(...given);
  let step = blocks.next(true);
  while (!step.done) step = blocks.next(true);
  return step.value;
}

function alsoInto(writer: StreamWriter | null, input: StreamInput): StreamInput {
  if (!writer) return input;
  return {
    write(bytes) {
      writer.write(bytes);
      input.write(bytes);
    },
    close() {
      input.close();
      writer.close();
    },
  };
}

/** `readInto` returns what reads on in the stream. */
function openStream(source: RecordingSource, name: string, find: TimelineOptions["find"]) {
  const path = `${source.name}/${name}.lines`;
  const buffer = new Uint8Array(BLOCK);
  const file = opened(path, () => source.open(name));
  const [line, rest] = readDescription(path, file, buffer);
  const schema = opened(path, () => parseDescription(line, name, find));
  let first: Uint8Array | undefined = rest;
  const readInto = (input: StreamInput) => () => {
    if (first) {
      input.write(first);
      first = undefined;
      return;
    }
    const n = opened(path, () => file.read(buffer));
    if (n !== null) return input.write(buffer.subarray(0, n));
    file.close();
    input.close();
  };
  return { schema, readInto };
}

/** The first line, and the bytes that were read beyond it. */
function readDescription(path: string, file: StreamSource, buffer: Uint8Array): [string, Uint8Array] {
  let head = new Uint8Array();
  const read = () => opened(path, () => file.read(buffer));
  for (let n = read(); n !== null && head.length <= LONGEST_DESCRIPTION; n = read()) {
    const joined = new Uint8Array(head.length + n);
    joined.set(head);
    joined.set(buffer.subarray(0, n), head.length);
    const end = joined.indexOf(10, head.length);
    head = joined;
    if (end >= 0) return [new TextDecoder().decode(head.subarray(0, end)), head.slice(end + 1)];
  }
  file.close();
  throw unreadable(path, head.length > LONGEST_DESCRIPTION ? "its first line has no end." : "it ends before its first line does.");
}

export function readHeader(source: RecordingSource): Header {
  const path = `${source.name}/header.json`;
  let text: string;
  try {
    text = source.header();
  } catch (cause) {
    throw isAbsent(cause) ? unreadable(source.name, "it has no header.json.", cause) : worded(path, cause);
  }
  return opened(path, () => parseHeader(parseJson(text)));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error("it is not JSON.", { cause });
  }
}

function opened<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    throw worded(path, cause);
  }
}

/** What is wrong with a file of the recording; that no more may be opened is no fault of it. */
function worded(path: string, cause: unknown): unknown {
  if (lacksFiles(cause)) return cause;
  return unreadable(path, cause instanceof RefusedFile ? `it ${cause.message}` : whyNot(cause), cause);
}

function unreadable(path: string, why: string, cause?: unknown): LlmprofError {
  return new LlmprofError(ExitCode.failed, `Cannot read the recording ${path}:`, why, "Name a directory that llmprof wrote with -o NAME.llmprof.", {
    cause,
  });
}
