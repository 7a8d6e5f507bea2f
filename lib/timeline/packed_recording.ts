import type { RecordingSource, StreamSource } from "./recording_source.ts";

/** A recording as one text: JSON, compressed, in base64 with line ends, so that it can be imported like any other text. */
interface Packed {
  readonly header: string;
  readonly streams: Readonly<Record<string, string>>;
}

const LINE = 120;

export async function pack(source: RecordingSource): Promise<string> {
  const streams = Object.fromEntries(source.streams().map((stream) => [stream, readAll(source.open(stream))]));
  const packed: Packed = { header: source.header(), streams };
  const bytes = await through(new TextEncoder().encode(JSON.stringify(packed)), new CompressionStream("gzip"));
  return bytes.toBase64().replace(new RegExp(`.{1,${LINE}}`, "g"), "$&\n");
}

/** Reads what {@link pack} made. */
export async function unpack(name: string, text: string): Promise<RecordingSource> {
  const bytes = await through(Uint8Array.fromBase64(text), new DecompressionStream("gzip"));
  const packed: Packed = JSON.parse(new TextDecoder().decode(bytes));
  return {
    name,
    header: () => packed.header,
    streams: () => Object.keys(packed.streams).sort(),
    open: (stream) => bytesOf(new TextEncoder().encode(packed.streams[stream]!)),
  };
}

function bytesOf(bytes: Uint8Array): StreamSource {
  let at = 0;
  return {
    read(buffer) {
      if (at >= bytes.length) return null;
      const part = bytes.subarray(at, at + buffer.length);
      buffer.set(part);
      at += part.length;
      return part.length;
    },
    close() {},
  };
}

function readAll(stream: StreamSource): string {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(64 * 1024);
  let text = "";
  for (let n = stream.read(buffer); n !== null; n = stream.read(buffer)) text += decoder.decode(buffer.subarray(0, n), { stream: true });
  stream.close();
  return text + decoder.decode();
}

async function through(bytes: Uint8Array<ArrayBuffer>, transform: CompressionStream | DecompressionStream): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(transform)).arrayBuffer());
}
