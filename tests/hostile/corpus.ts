import { seeded } from "../harness/spans.ts";

/** What names are made of that once broke a shell, a template, a parser, a terminal or a reader. */
const pieces: readonly string[] = [
  "\n",
  "\r\n",
  "\t",
  "%",
  "%s%n%d",
  "\\",
  "\\n",
  "\\x41",
  '"',
  "'",
  "`id`",
  "$(id)",
  "${HOME}",
  "{{prefix}}",
  "FILTER",
  "EMIT(op)",
  "@",
  "@n = count()",
  "*",
  "*/",
  "/*",
  "//",
  "#",
  "}",
  "{",
  "};",
  ";",
  "&&",
  "|",
  ">",
  "<",
  "?",
  "[a-z]",
  ",",
  ":",
  "::",
  "+4",
  "-",
  "--",
  "-rf",
  "=",
  "~",
  "!",
  " ",
  "  ",
  "…",
  "é",
  "日本",
  "💥",
  "\u202e",
  "\u2066",
  "\u200b",
  "\u2028",
  "\ufeff",
  "\u009b31m",
  "\x1b[31m",
  "\x1b]0;title\x07",
  "\x1b[2J",
  "\x07",
  "\x08",
  "\x7f",
  "\x01",
  "EOF",
  "\nEOF\n",
  "(9, 1)",
  "\n10 1 1 1\n",
  "</script>",
  "<!--",
  "\u2029",
  "__proto__",
  "constructor",
  "..",
  ".",
  "NaN",
  "null",
  "0",
];

/** Whole names that try to run something, or to end what they stand in. `CANARY` stands for a file that must never be there. */
const attacks: readonly string[] = [
  '"; system("touch CANARY"); //',
  '" { system("touch CANARY"); } //',
  '\n} BEGIN { system("touch CANARY"); }\n',
  '*/ BEGIN { system("touch CANARY"); } /*',
  "$(touch CANARY)",
  "`touch CANARY`",
  "'; touch CANARY; '",
  "| touch CANARY",
  "\ntouch CANARY\n",
  "EOF\ntouch CANARY\n",
  '\nEOF\ntouch CANARY\ncat <<"EOF"\n',
  '{{prefix}}"); system("touch CANARY"); //',
  '\\"; system(\\"touch CANARY\\"); //',
  '%s"; system("touch CANARY"); //',
  '@n = count(); system("touch CANARY");',
  'x":"y" { system("touch CANARY") }',
  'x, BEGIN { system("touch CANARY") }',
];

/** Bytes that are no UTF-8. */
const broken: readonly Uint8Array[] = [
  Uint8Array.of(0xff),
  Uint8Array.of(0xc3),
  Uint8Array.of(0xed, 0xa0, 0x80),
  Uint8Array.of(0xc0, 0xaf),
  Uint8Array.of(0x61, 0x80, 0x62),
  Uint8Array.of(0xf0, 0x9f, 0x92),
  Uint8Array.from({ length: 40 }, (_, i) => 0xd8 + i % 40),
];

/**
 * More than 200 names as bytes, the same each time, without a NUL, because the kernel knows no such name: every piece at
 * the beginning, in the middle or at the end, attacks, broken text, and random joins of all of them.
 */
export function hostileNames(): Uint8Array[] {
  const encode = (text: string) => new TextEncoder().encode(text);
  const random = seeded(8);
  const names = [...attacks.map(encode), ...broken, ...broken.map((bytes) => Uint8Array.of(...encode("x"), ...bytes, ...encode(".so")))];
  pieces.forEach((piece, i) => names.push(encode([`${piece}lib`, `lib${piece}.so`, `lib.so${piece}`][i % 3]!)));
  while (names.length < 215) {
    const parts = Array.from(
      { length: 2 + random(5) },
      () => random(12) === 0 ? broken[random(broken.length)]! : encode(pieces[random(pieces.length)]!),
    );
    names.push(new Uint8Array(parts.flatMap((part) => [...part])));
  }
  names.push(
    encode("x".repeat(63)),
    encode("x".repeat(64)),
    encode("é".repeat(100)),
    encode(`${"y".repeat(62)}☃z`),
    encode("z".repeat(255)),
    encode("w".repeat(4096)),
  );
  return names;
}

export function hostileTexts(): string[] {
  return hostileNames().map((bytes) => new TextDecoder().decode(bytes));
}

/** A name is at most 255 bytes, has no slash and is neither `.` nor `..`; the same bytes, made such a one. */
export function asFileName(name: Uint8Array): Uint8Array {
  const bytes = name.map((byte) => byte === 0x2f ? 0x5f : byte).subarray(0, 255);
  return /^\.{0,2}$/.test(new TextDecoder().decode(bytes)) ? Uint8Array.of(...bytes, 0x5f) : bytes;
}
