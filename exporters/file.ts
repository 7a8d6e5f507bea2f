import type { ByteSink } from "../lib/events/exporter.ts";
import { type Owner, RegularFile } from "../lib/machine/regular_file.ts";
import { isGzip } from "./formats.ts";

/**
 * Opens a file for writing, compressed when its name ends in `.gz`; a new one belongs to `owner`. Writes are synchronous: when `write` returns,
 * the bytes are with the kernel. Throws `RefusedFile` for what is no plain file, and what the system says, at opening (the folder is missing,
 * not writable) or at writing (the disk is full).
 */
export async function openByteSink(path: string, owner: Owner | null = null): Promise<ByteSink> {
  const file = RegularFile.create(path, owner);
  try {
    file.truncate();
    return isGzip(path) ? new (await import("./gzip.ts")).GzipSink(file) : file;
  } catch (error) {
    file.close();
    throw error;
  }
}
