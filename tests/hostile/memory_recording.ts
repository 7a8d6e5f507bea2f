import type { RecordingSource, StreamSource } from "../../lib/timeline/recording_source.ts";

/** A recording that no disk holds, so that hundreds of broken ones can be read in a second. */
export class MemoryRecording implements RecordingSource {
  readonly name = "memory.llmprof";

  constructor(readonly head: string, readonly bytes: ReadonlyMap<string, Uint8Array>) {}

  /** Everything of another one. */
  static copy(source: RecordingSource): MemoryRecording {
    return new MemoryRecording(source.header(), new Map(source.streams().map((stream) => [stream, readAll(source.open(stream))])));
  }

  with(stream: string, bytes: Uint8Array): MemoryRecording {
    return new MemoryRecording(this.head, new Map([...this.bytes, [stream, bytes]]));
  }

  /** The first and the last lines of each stream only. */
  shortened(lines: number): MemoryRecording {
    const some = [...this.bytes].map(([stream, bytes]) => {
      const all = new TextDecoder().decode(bytes).trimEnd().split("\n");
      const kept = all.length <= 2 * lines ? all : [...all.slice(0, lines), ...all.slice(-lines)];
      return [stream, new TextEncoder().encode(kept.join("\n") + "\n")] as const;
    });
    return new MemoryRecording(this.head, new Map(some));
  }

  header(): string {
    return this.head;
  }

  streams(): string[] {
    return [...this.bytes.keys()].sort();
  }

  open(stream: string): StreamSource {
    let rest = this.bytes.get(stream)!;
    return {
      read(buffer) {
        if (rest.length === 0) return null;
        const part = rest.subarray(0, buffer.length);
        buffer.set(part);
        rest = rest.subarray(part.length);
        return part.length;
      },
      close() {},
    };
  }
}

function readAll(stream: StreamSource): Uint8Array {
  const parts: number[] = [];
  const buffer = new Uint8Array(64 * 1024);
  for (let n = stream.read(buffer); n !== null; n = stream.read(buffer)) parts.push(...buffer.subarray(0, n));
  return new Uint8Array(parts);
}
