import type { KernelFiles } from "../machine/files.ts";
import { type ByteReader, type Elf, readSection, SectionType, viewOf } from "./elf.ts";

/** `NT_GNU_BUILD_ID`, in a note whose owner is `GNU`. */
const gnuBuildId = 3;

/** The build id in hexadecimal: it names the very build of a library, and its separate debug file. */
export async function readBuildId(elf: Elf, read: ByteReader): Promise<string | null> {
  for (const section of elf.sections) {
    if (section.type !== SectionType.note || section.size > 65_536) continue;
    const bytes = await readSection(read, section);
    const view = viewOf(bytes);
    if (!bytes || !view) continue;
    for (let at = 0; at + 12 <= bytes.length;) {
      const nameSize = view.getUint32(at, true);
      const size = view.getUint32(at + 4, true);
      const start = at + 12 + padded(nameSize);
      const isBuildId = view.getUint32(at + 8, true) === gnuBuildId && new TextDecoder().decode(bytes.subarray(at + 12, at + 15)) === "GNU";
      if (isBuildId && nameSize === 4 && size > 0 && start + size <= bytes.length) return bytes.subarray(start, start + size).toHex();
      at = start + padded(size);
    }
  }
  return null;
}

/** Where a distribution installs the symbols that it stripped from a library; null when it did not. Addresses are those of the library. */
export async function debugFile(files: KernelFiles, buildId: string): Promise<string | null> {
  const path = `/usr/lib/debug/.build-id/${buildId.slice(0, 2)}/${buildId.slice(2)}.debug`;
  return (await files.modes([path])).has(path) ? path : null;
}

function padded(size: number): number {
  return Math.ceil(size / 4) * 4;
}
