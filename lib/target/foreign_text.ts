import { textOf } from "../events/text.ts";
import type { KernelFiles } from "../machine/files.ts";

/** What is longer is none of the files that are looked for. */
const MOST_BYTES = 1 << 24;

/**
 * Files at paths that are somebody else's, in the root of a container or in a user's home; null where one is no regular one, links followed: a pipe
 * would be read for ever, `/dev/zero` too, and some devices do something when they are opened.
 */
export async function foreignTexts(files: KernelFiles, paths: readonly string[]): Promise<(string | null)[]> {
  const modes = await files.modes(paths);
  return await Promise.all(paths.map(async (path) => {
    // Should it be exchanged meanwhile: these are bounded, and wait for nobody.
    const bytes = modes.has(path) ? await files.bytes(path, 0, MOST_BYTES) : null;
    return bytes && textOf(bytes);
  }));
}

/** One of {@link foreignTexts}. */
export async function foreignText(files: KernelFiles, path: string): Promise<string | null> {
  const [text] = await foreignTexts(files, [path]);
  return text ?? null;
}
