import { type ByteReader, type Elf, readSection, SectionType, stringAt, viewOf } from "./elf.ts";

/** A place that whoever wrote a program has marked for tracers. */
export interface Marker {
  readonly provider: string;
  readonly name: string;
}

const OWNER = "stapsdt", TYPE = 3;
/** Of a note: the place, where addresses began when it was written, and a counter of those who listen. */
const ADDRESSES = 3 * 8;

/** The markers (USDT) of a file, each once: notes of the owner stapsdt, as SystemTap's `sys/sdt.h` writes them. */
export async function readMarkers(elf: Elf, read: ByteReader): Promise<Marker[]> {
  const bytes = await readSection(read, elf.sections.find(({ type, name }) => type === SectionType.note && name === `.note.${OWNER}`));
  const view = viewOf(bytes);
  const found = new Map<string, Marker>();
  if (!bytes || !view) return [];
  for (let at = 0; at + 12 <= bytes.length;) {
    const nameSize = view.getUint32(at, true), size = view.getUint32(at + 4, true);
    const start = at + 12 + padded(nameSize);
    const isMarker = view.getUint32(at + 8, true) === TYPE && stringAt(bytes, at + 12) === OWNER;
    if (isMarker && size > ADDRESSES && start + size <= bytes.length) {
      const provider = stringAt(bytes, start + ADDRESSES);
      const name = provider === null ? null : stringAt(bytes, start + ADDRESSES + provider.length + 1);
      if (provider !== null && name !== null) found.set(`${provider}:${name}`, { provider, name });
    }
    at = start + padded(size);
  }
  return [...found.values()];
}

function padded(size: number): number {
  return Math.ceil(size / 4) * 4;
}
