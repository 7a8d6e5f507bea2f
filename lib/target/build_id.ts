import type { KernelFiles } from "../machine/files.ts";
import { type ElfFile, fileReader, readElf } from "./elf.ts";
import { readNotes } from "./notes.ts";

/** `NT_GNU_BUILD_ID`, in a note whose owner is `GNU`. */
const gnuBuildId = 3;

/** The build id in hexadecimal: it names the very build of a library, and its separate debug file. */
export async function readBuildId(elf: ElfFile): Promise<string | null> {
  for await (const { owner, type, said } of readNotes(elf, ({ size }) => size <= 65_536)) {
    if (type === gnuBuildId && owner === "GNU" && said.length > 0) return said.toHex();
  }
  return null;
}

/**
 * The symbols that a distribution stripped from a file and installed apart, as the process's own root has them, or this machine; null when
 * neither has. Its addresses are those of the file.
 */
export async function readDebugFile(files: KernelFiles, pid: number | null, elf: ElfFile): Promise<ElfFile | null> {
  const id = await readBuildId(elf);
  if (id === null) return null;
  const path = `/usr/lib/debug/.build-id/${id.slice(0, 2)}/${id.slice(2)}.debug`;
  const places = pid === null ? [path] : [`/proc/${pid}/root${path}`, path];
  // Only what is a regular file: the root of a container is somebody else's, and a pipe would be read for ever.
  const modes = await files.modes(places);
  for (const place of places.filter((place) => modes.has(place))) {
    const debug = await readElf(fileReader(files, place));
    // A file of that name may be of another build.
    if (debug && await readBuildId(debug) === id) return debug;
  }
  return null;
}
