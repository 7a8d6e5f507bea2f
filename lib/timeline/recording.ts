import { lstatSync, type Stats } from "node:fs";
import { handOver, type Owner, RegularFile } from "../machine/regular_file.ts";
import type { StreamSchema } from "../programs/schema.ts";
import { type Header, headerToJson } from "./header.ts";

/** A run has a few, and more for each turn of `--every` and each life of `--wait`; who reads them keeps a file open for each. */
export const MOST_STREAMS = 256;

/** One stream of a recording as it is written: the schema in the first line, then the bytes as they came. */
export interface StreamWriter {
  write(bytes: Uint8Array): void;
  close(): void;
}

/** Where streams are recorded. */
export interface Recorder {
  stream(schema: StreamSchema): StreamWriter;
}

/** A recording is a directory: `header.json`, and `<stream>.lines` for each stream. It is a tap on the lines, nothing more. */
export class RecordingWriter implements Recorder {
  /** The folder as it was made: in one that others may write to, its path may come to lead elsewhere. */
  readonly #made: Stats;

  private constructor(readonly path: string, readonly owner: Owner | null) {
    this.#made = lstatSync(path);
  }

  /** Fails when the directory exists: a recording is never mixed with another. What is in it belongs to `owner` at once. */
  static create(path: string, header: Header, owner: Owner | null = null): RecordingWriter {
    Deno.mkdirSync(path, { recursive: false });
    const writer = new RecordingWriter(path, owner);
    const file = writer.#file("header.json");
    file.write(new TextEncoder().encode(JSON.stringify(headerToJson(header), null, 2) + "\n"));
    file.close();
    return writer;
  }

  stream(schema: StreamSchema): StreamWriter {
    const file = this.#file(`${schema.stream}.lines`);
    try {
      file.write(new TextEncoder().encode(JSON.stringify(schema) + "\n"));
    } catch (error) {
      // On a full disk there is room for a file, and none for what is in it. One that does not say what it holds would keep the others from being read.
      file.close();
      this.#mustBeThere();
      Deno.removeSync(file.path);
      throw error;
    }
    return { write: (bytes) => file.write(bytes), close: () => file.close() };
  }

  /** Nothing more is written. The directory itself is handed over last: until then nobody can put anything into it. */
  finish(): void {
    if (!this.owner) return;
    this.#mustBeThere();
    handOver(this.path, this.owner);
  }

  /** Looked at before, so that nothing is made elsewhere, and behind, so that nothing is written there. */
  #file(name: string): RegularFile {
    this.#mustBeThere();
    const file = RegularFile.createNew(`${this.path}/${name}`, this.owner);
    this.#mustBeThere();
    return file;
  }

  #mustBeThere(): void {
    const { dev, ino } = lstatSync(this.path);
    if (dev !== this.#made.dev || ino !== this.#made.ino) throw new Error("Another folder has taken its place");
  }
}
