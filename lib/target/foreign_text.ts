import { textOf } from "../events/text.ts";
import type { KernelFiles } from "../machine/files.ts";

/** What is longer is none of the files that are looked for. */
const MOST_BYTES = 1 << 24;

/**
 * A file at a path that is somebody else's, in the root of a container or in a user's home; null where it is no regular one, links followed: a pipe
 * would be read for ever, `/dev/zero` too, and some devices do something when they are opened.
 */
export async function foreignText(files: KernelFiles, path: string): Promise<string | null> {
  const modes = await files.modes([path]);
  // Should it be exchanged meanwhile: these are bounded, and wait for nobody.
  const bytes = modes.has(path) ? await files.bytes(path, 0, MOST_BYTES) : null;
  return bytes && textOf(bytes);
}
