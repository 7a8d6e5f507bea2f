import { type ElfFile, readSection, type Section, SectionType, stringAt, viewOf } from "./elf.ts";

/** What somebody wrote into a file about it. */
export interface Note {
  readonly owner: string;
  /** By the owner's own numbers. */
  readonly type: number;
  readonly said: Uint8Array;
}

/** Whole notes of the sections that are asked for; one that leads out of its section ends what is read of it. */
export async function* readNotes({ sections, read }: ElfFile, asked: (section: Section) => boolean): AsyncGenerator<Note> {
  for (const section of sections) {
    if (section.type !== SectionType.note || !asked(section)) continue;
    const bytes = await readSection(read, section), view = viewOf(bytes);
    if (!bytes || !view) continue;
    for (let at = 0; at + 12 <= bytes.length;) {
      const size = view.getUint32(at + 4, true);
      const ownerSize = view.getUint32(at, true), start = at + 12 + padded(ownerSize), end = start + size;
      const owner = stringAt(bytes, at + 12);
      // With the zero at its end.
      if (owner?.length === ownerSize - 1 && end <= bytes.length) {
        yield { owner, type: view.getUint32(at + 8, true), said: bytes.subarray(start, end) };
      }
      at = start + padded(size);
    }
  }
}

function padded(size: number): number {
  return Math.ceil(size / 4) * 4;
}
