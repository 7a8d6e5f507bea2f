import { Buffer } from "node:buffer";
import type { ByteSink } from "../lib/events/exporter.ts";
import { type Owner, RegularFile } from "../lib/machine/regular_file.ts";
import { isGzip } from "./formats.ts";

/**
 * Opens a file for writing; a new one belongs to `owner`. Throws `RefusedFile` for what is no plain file, and what the system says (the folder is
 * missing, not writable). See {@link sinkTo}.
 */
export async function openByteSink(path: string, owner: Owner | null = null): Promise<ByteSink> {
  return await sinkTo(RegularFile.create(path, owner));
}

/**
 * Writes to a file, compressed when its name ends in `.gz`. What was there is kept until the first write, or with `adds` for good. Writes are
 * synchronous: when `write` returns, the bytes are with the kernel; throws what the system says (the disk is full, the file was removed).
 */
export async function sinkTo(file: RegularFile, adds = false): Promise<ByteSink> {
  try {
    if (!isGzip(file.path)) return adds ? new GrowingFile(file) : new WholeFile(file);
    return new (await import("./gzip.ts")).GzipSink(new WholeFile(file, adds));
  } catch (error) {
    file.close();
    throw error;
  }
}

abstract class FileSink implements ByteSink {
  constructor(protected readonly file: RegularFile) {}

  abstract write(bytes: Uint8Array): void;

  sync(): void {
    this.file.sync();
  }

  discard(): void {
    this.file.discard();
  }

  close(): void {
    try {
      this.file.mustExist();
      this.finish();
    } finally {
      this.file.close();
    }
  }

  /** Nothing more will be written. */
  protected finish(): void {}
}

/**
 * The file is whole after every tail, whatever happens then: what was written, and the tail behind it. When something cannot be written, the file
 * is put back to what the last tail left, or where there never was one, to what the last call left.
 */
class WholeFile extends FileSink {
  /** Bytes of what was written, in which a tail does not count. */
  #written = 0;
  #tail = new Uint8Array();
  #whole: { readonly written: number; readonly tail: Uint8Array } | undefined;

  /** What was there before is gone. */
  #isOurs = false;

  /** `adds`: behind what is there, which counts as written. Throws then when somebody else changes its length, whose lines would be written over. */
  constructor(file: RegularFile, private readonly adds = false) {
    super(file);
    if (!adds) return;
    this.#written = file.size;
    this.#isOurs = true;
  }

  write(bytes: Uint8Array, tail?: Uint8Array): void {
    // In one call of the system: between two of them the file would have no end, and killed there, llmprof would leave it so.
    this.#put(tail ? Buffer.concat([bytes, tail]) : bytes);
    this.#written += bytes.length;
    this.#tail = tail?.slice() ?? new Uint8Array();
    if (tail) this.#whole = { written: this.#written, tail: this.#tail };
  }

  /** When it cannot be written, the file ends before what was to be replaced: of that, nobody knows what is left. */
  replace(count: number, bytes: Uint8Array, cover: (length: number) => Uint8Array): void {
    this.file.mustExist();
    const left = count + this.#tail.length - bytes.length;
    this.#written -= count;
    this.#tail = new Uint8Array();
    this.#whole = { written: this.#written, tail: this.#tail };
    try {
      this.file.writeAt(left > 0 ? Buffer.concat([bytes, cover(left)]) : bytes, this.#written);
      this.#written += bytes.length;
      this.#whole = { written: this.#written, tail: this.#tail };
    } finally {
      this.file.truncate(this.#written);
    }
  }

  protected override finish(): void {
    this.#begin();
  }

  #begin(): void {
    if (!this.#isOurs) this.file.truncate();
    this.#isOurs = true;
  }

  #put(bytes: Uint8Array): void {
    this.file.mustExist();
    if (this.adds && this.file.size !== this.#written + this.#tail.length) throw new Error("Somebody else has written to it meanwhile");
    this.#begin();
    try {
      this.file.writeAt(bytes, this.#written);
      if (bytes.length < this.#tail.length) this.file.truncate(this.#written + bytes.length);
    } catch (error) {
      const { written, tail } = this.#whole ?? { written: this.#written, tail: this.#tail };
      try {
        // There was room for it before.
        this.file.writeAt(tail, written);
        this.file.truncate(written + tail.length);
      } catch {
        // Not where the disk fails: what is there instead of a tail, nobody knows.
        this.file.truncate(written);
      }
      throw error;
    }
  }
}

const NEWLINE = Uint8Array.of(10);
/** What each line of llmprof's begins with. */
const OBJECT = 0x7b;
/** Bytes; what ends in no line that is shorter was not written by llmprof. */
const LONGEST_LINE = 1 << 24;

/**
 * Lines that are added to a file, opened to `grow`. Who keeps them for days may take away what is there meanwhile (logrotate's copytruncate): they go
 * on where it ends then.
 */
class GrowingFile extends FileSink {
  #begun = false;

  /** Whole lines, which need no tail. */
  write(lines: Uint8Array): void {
    const isOpen = !this.#begun && this.#endsOpen(), { size } = this.file;
    try {
      this.file.write(isOpen ? Buffer.concat([NEWLINE, lines]) : lines);
    } catch (error) {
      try {
        this.file.truncate(Math.min(size, this.file.size));
      } catch {
        // Why it cannot be written says more.
      }
      throw error;
    }
    this.#begun = true;
  }

  /**
   * Takes away half a line, in which whoever wrote before was interrupted, or the machine (zeroes): readers stop there. Returns whether another line
   * lacks its end.
   */
  #endsOpen(): boolean {
    const { size } = this.file;
    if (size === 0 || this.file.readAt(size - 1, 1)[0] === NEWLINE[0]) return false;
    const from = Math.max(0, size - LONGEST_LINE), end = this.file.readAt(from, size - from), begin = end.lastIndexOf(NEWLINE[0]!) + 1;
    const line = end.subarray(begin), isOurs = (from === 0 || begin > 0) && (line[0] === OBJECT || line[0] === 0);
    // Another run may have added to it meanwhile.
    if (!isOurs || isJson(line) || this.file.size !== size) return true;
    this.file.truncate(from + begin);
    return false;
  }
}

function isJson(line: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder().decode(line));
    return true;
  } catch {
    return false;
  }
}
