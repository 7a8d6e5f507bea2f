import assert from "node:assert/strict";
import { pack, unpack } from "./packed_recording.ts";
import type { RecordingSource, StreamSource } from "./recording_source.ts";

/** A stream that gives a few bytes at a time, so that characters are cut. */
function slowly(text: string): StreamSource {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return {
    read(buffer) {
      const part = bytes.subarray(at, at + 3);
      buffer.set(part);
      at += part.length;
      return part.length === 0 ? null : part.length;
    },
    close() {},
  };
}

function readAll(stream: StreamSource, size: number): string {
  const parts: number[] = [];
  const buffer = new Uint8Array(size);
  for (let n = stream.read(buffer); n !== null; n = stream.read(buffer)) parts.push(...buffer.subarray(0, n));
  return new TextDecoder().decode(new Uint8Array(parts));
}

Deno.test("a recording comes out of its package as it went in, in lines of text", async () => {
  const streams: Record<string, string> = { process: '{"unit":"µs"}\n1 2 3\n', host: "", ggml: `${"10 5 6 7\n".repeat(9999)}` };
  const source: RecordingSource = {
    name: "x",
    header: () => '{"schemaVersion":1}\n',
    streams: () => Object.keys(streams),
    open: (stream) => slowly(streams[stream]!),
  };
  const text = await pack(source);
  assert.match(text, /^([\w+/=]{1,120}\n)+$/);
  const back = await unpack("y", text);
  assert.deepEqual([back.name, back.header(), back.streams()], ["y", source.header(), ["ggml", "host", "process"]]);
  for (const [name, lines] of Object.entries(streams)) assert.equal(readAll(back.open(name), 1000), lines);
});
