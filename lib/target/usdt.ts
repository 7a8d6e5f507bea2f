import { type ElfFile, stringAt } from "./elf.ts";
import { readNotes } from "./notes.ts";

/** A place that whoever wrote a program has marked for tracers. */
export interface Marker {
  readonly provider: string;
  readonly name: string;
}

const OWNER = "stapsdt", TYPE = 3;
/** Of a note: the place, where addresses began when it was written, and a counter of those who listen. */
const ADDRESSES = 3 * 8;

/** The markers (USDT) of a file, each once: notes of the owner stapsdt, as SystemTap's `sys/sdt.h` writes them. */
export async function readMarkers(elf: ElfFile): Promise<Marker[]> {
  const found = new Map<string, Marker>();
  for await (const { owner, type, said } of readNotes(elf, ({ name }) => name === `.note.${OWNER}`)) {
    if (owner !== OWNER || type !== TYPE) continue;
    const provider = stringAt(said, ADDRESSES);
    const name = provider === null ? null : stringAt(said, ADDRESSES + provider.length + 1);
    if (provider !== null && name !== null) found.set(`${provider}:${name}`, { provider, name });
  }
  return [...found.values()];
}
