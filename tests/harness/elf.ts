/** Where the first function's code stands, in the file and when loaded. */
const codeAt = 0x1000;
const HEADER = 64, SEGMENT = 56, SECTION = 64, SYMBOL = 24, ROOM = 64;

/**
 * The smallest shared object that has functions: each 64 bytes after the one before, beginning with the given bytes; in the table of what it exports, or not.
 * One without bytes is another library's. As `data` they are no functions.
 */
export function makeElf(functions: Readonly<Record<string, string>>, exported = true, what: "code" | "data" = "code"): Uint8Array<ArrayBuffer> {
  const names = Object.keys(functions);
  const strings = new TextEncoder().encode(`\0${names.join("\0")}\0`);
  const symbolsAt = codeAt + names.length * ROOM, symbolsSize = SYMBOL * (names.length + 1);
  const stringsAt = symbolsAt + symbolsSize;
  const sectionsAt = Math.ceil((stringsAt + strings.length) / 8) * 8;
  const bytes = new Uint8Array(sectionsAt + 3 * SECTION);
  const view = new DataView(bytes.buffer);
  const u16 = (at: number, value: number) => view.setUint16(at, value, true);
  const u32 = (at: number, value: number) => view.setUint32(at, value, true);
  const u64 = (at: number, value: number) => view.setBigUint64(at, BigInt(value), true);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  u16(16, 3); // ET_DYN
  u16(18, 62); // EM_X86_64
  u64(32, HEADER);
  u64(40, sectionsAt);
  u16(54, SEGMENT);
  u16(56, 1);
  u16(58, SECTION);
  u16(60, 3);
  u16(62, 2);
  // One segment that is loaded where it stands.
  u32(HEADER, 1);
  u64(HEADER + 32, sectionsAt);
  names.forEach((name, i) => {
    const at = codeAt + i * ROOM;
    bytes.set(Uint8Array.fromHex(functions[name]!.replaceAll(" ", "")), at);
    const symbol = symbolsAt + (i + 1) * SYMBOL;
    u32(symbol, 1 + names.slice(0, i).join("\0").length + (i > 0 ? 1 : 0));
    bytes[symbol + 4] = what === "code" ? 0x12 : 0x11; // global function or object
    u16(symbol + 6, functions[name] === "" ? 0 : 1);
    u64(symbol + 8, at);
    u64(symbol + 16, ROOM);
  });
  bytes.set(strings, stringsAt);
  const section = (index: number, type: number, at: number, size: number, link: number) => {
    u32(sectionsAt + index * SECTION + 4, type);
    u64(sectionsAt + index * SECTION + 24, at);
    u64(sectionsAt + index * SECTION + 32, size);
    u32(sectionsAt + index * SECTION + 40, link);
  };
  section(1, exported ? 11 : 2, symbolsAt, symbolsSize, 2);
  section(2, 3, stringsAt, strings.length, 0);
  return bytes;
}
