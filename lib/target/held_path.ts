import type { KernelFiles } from "../machine/files.ts";
import { fileKey, parseMaps } from "./maps.ts";
import { openFiles } from "./open_files.ts";

/** The whole path, as the process sees it, of a file that it has mapped or open; null where it has neither any more. */
export async function heldPath(files: KernelFiles, pid: number, file: { readonly dev: number; readonly inode: number }): Promise<string | null> {
  const key = fileKey(file);
  const mapped = parseMaps(await files.text(`/proc/${pid}/maps`) ?? "").find((mapping) => fileKey(mapping) === key);
  if (mapped) return mapped.path;
  return (await openFiles(files, pid)).find((opened) => fileKey(opened) === key)?.path ?? null;
}
