import type { ByteSink } from "../lib/events/exporter.ts";
import { isGzip } from "./formats.ts";

/**
 * Opens a file for writing, compressed when its name ends in `.gz`. Writes are synchronous: when `write` returns, the bytes are with the
 * kernel. Throws what Deno throws, at opening (the folder is missing, not writable) or at writing (the disk is full).
 */
export async function openByteSink(path: string): Promise<ByteSink> {
  const file = Deno.openSync(path, { write: true, create: true, truncate: true });
  if (!isGzip(path)) return new FileSink(file);
  try {
    return new (await import("./gzip.ts")).GzipSink(new FileSink(file));
  } catch (error) {
    file.close();
    throw error;
  }
}

class FileSink implements ByteSink {
  constructor(private readonly file: Deno.FsFile) {}

  write(bytes: Uint8Array): void {
    // One call may take a part only, near the limit of a disk or a pipe.
    for (let done = 0; done < bytes.length;) done += this.file.writeSync(bytes.subarray(done));
  }

  close(): void {
    this.file.close();
  }
}
