import { RegularFile } from "../machine/regular_file.ts";

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

/** Longer than any that llmprof writes. */
const LONGEST_HEADER = 1 << 20;

/** The folder that {@link RecordingWriter} wrote; or anything that somebody made to look like it: only regular files are read. */
export class RecordingFolder implements RecordingSource {
  constructor(readonly name: string) {}

  header(): string {
    const file = RegularFile.open(`${this.name}/header.json`);
    try {
      return new TextDecoder().decode(file.readAll(LONGEST_HEADER));
    } finally {
      file.close();
    }
  }

  streams(): string[] {
    return [...Deno.readDirSync(this.name)].map((e) => e.name).filter((n) => n.endsWith(".lines")).map((n) => n.slice(0, -6)).sort();
  }

  open(stream: string): StreamSource {
    return RegularFile.open(`${this.name}/${stream}.lines`);
  }
}
