import { join } from "node:path";
import { unpack } from "../../lib/timeline/packed_recording.ts";
import type { RecordingSource, StreamSource } from "../../lib/timeline/recording_source.ts";
import recording from "../../lib/commands/demo/recording.txt" with { type: "text" };

export function demoRecording(): Promise<RecordingSource> {
  return unpack("the demo's recording", recording);
}

/** Writes the demo's recording as the folder that a live run would have left, and returns its path. */
export async function demoFolder(parent: string, header: (text: string) => string = (text) => text): Promise<string> {
  const source = await demoRecording();
  const path = join(parent, "demo.llmprof");
  Deno.mkdirSync(path);
  Deno.writeTextFileSync(join(path, "header.json"), header(source.header()));
  for (const stream of source.streams()) Deno.writeFileSync(join(path, `${stream}.lines`), readAll(source.open(stream)));
  return path;
}

function readAll(stream: StreamSource): Uint8Array {
  const parts: number[] = [];
  const buffer = new Uint8Array(64 * 1024);
  for (let n = stream.read(buffer); n !== null; n = stream.read(buffer)) parts.push(...buffer.subarray(0, n));
  return new Uint8Array(parts);
}
