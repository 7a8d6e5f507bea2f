import type { FilesOnce } from "../machine/files_once.ts";
import { RegularFile } from "../machine/regular_file.ts";
import type { ByteReader } from "./elf.ts";
import type { Library } from "./maps.ts";

/** What says which file is mapped. */
type Mapped = Pick<Library, "path" | "dev" | "inode" | "range">;

/** A path to the very file that is mapped, across mount namespaces and also when it was replaced on disk. */
export function mappedFile(pid: number, library: Pick<Library, "range">): string {
  return `/proc/${pid}/map_files/${library.range}`;
}

/**
 * Reads the file that is mapped. Where its path leads to it here too, as it does outside of containers, that takes no child process, of which
 * each costs some milliseconds while the target may be standing still. `key`: the file's own name, by which it is read once for all that map it.
 */
export function mappedReader(files: FilesOnce, pid: number, library: Mapped, key?: string): ByteReader {
  const path = mappedFile(pid, library);
  const read: ByteReader = async (offset, length) => readByPath(library, offset, length) ?? await files.files.bytes(path, offset, length);
  return (offset, length) => files.piece(key ?? path, offset, length, read);
}

/** Null where the path leads to another file, or nowhere. */
function readByPath({ path, dev, inode }: Mapped, offset: number, length: number): Uint8Array | null {
  if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length) || offset < 0 || length < 0) return null;
  try {
    const file = RegularFile.open(path);
    try {
      return file.is(dev, inode) ? file.readAt(offset, length) : null;
    } finally {
      file.close();
    }
  } catch {
    return null;
  }
}
