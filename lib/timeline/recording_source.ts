/** Where a recording is read from: a folder, or what was packed into an executable. */
export interface RecordingSource {
  /** For messages. */
  readonly name: string;
  /** Text of `header.json`. Throws when there is none. */
  header(): string;
  /** Names of the streams, sorted. */
  streams(): string[];
  open(stream: string): StreamSource;
}

export interface StreamSource {
  /** Fills `buffer` and returns how many bytes; null at the end. */
  read(buffer: Uint8Array): number | null;
  close(): void;
}

/** The folder that {@link RecordingWriter} wrote. */
export class RecordingFolder implements RecordingSource {
  constructor(readonly name: string) {}

  header(): string {
    return Deno.readTextFileSync(`${this.name}/header.json`);
  }

  streams(): string[] {
    return [...Deno.readDirSync(this.name)].map((e) => e.name).filter((n) => n.endsWith(".lines")).map((n) => n.slice(0, -6)).sort();
  }

  open(stream: string): StreamSource {
    const file = Deno.openSync(`${this.name}/${stream}.lines`);
    return { read: (buffer) => file.readSync(buffer), close: () => file.close() };
  }
}
