import { lastPart } from "../events/text.ts";
import type { KernelFiles } from "../machine/files.ts";
import { fileKey, parseMaps } from "./maps.ts";
import { openFiles } from "./open_files.ts";

/** The whole name of a file that a process has mapped or open, without its folders; null where it has neither any more. */
export async function heldName(files: KernelFiles, pid: number, file: { readonly dev: number; readonly inode: number }): Promise<string | null> {
  const key = fileKey(file);
  const mapped = parseMaps(await files.text(`/proc/${pid}/maps`) ?? "").find((mapping) => fileKey(mapping) === key);
  if (mapped) return lastPart(mapped.path);
  return (await openFiles(files, pid)).find((opened) => fileKey(opened) === key)?.file ?? null;
}
