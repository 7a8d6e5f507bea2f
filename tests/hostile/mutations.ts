/** A repeatable source of whole numbers in [0, below). */
export type Random = (below: number) => number;

/** What a line may be cut into, swapped with or filled with: what once broke a reader, and names that mean something to JavaScript. */
const pieces = [
  "",
  " ",
  "\n",
  "\0",
  "-",
  "-1",
  "0",
  "00",
  "9".repeat(25),
  "NaN",
  "__proto__",
  "constructor",
  "@n: 3",
  "@n: -5",
  "(9, 1)",
  "ready",
  "ff fe",
  "\ufffd",
  "💥",
  "\x1b[31m",
];

/** The bytes of a line, broken in one of many ways. */
export function mutated(line: Uint8Array, random: Random): Uint8Array {
  const at = random(line.length + 1);
  const piece = new TextEncoder().encode(pieces[random(pieces.length)]);
  switch (random(8)) {
    case 0: // cut
      return line.slice(0, at);
    case 1: // its end only
      return line.slice(at);
    case 2: // a byte is another one
      return line.map((byte, i) => i === at ? random(256) : byte);
    case 3: // a bit is flipped
      return line.map((byte, i) => i === at ? byte ^ (1 << random(8)) : byte);
    case 4: // something comes in between
      return joined(line.slice(0, at), piece, line.slice(at));
    case 5: // a field is another one
      return replaceField(line, random, piece);
    case 6: // twice, without an end between
      return joined(line, line);
    default: // a stretch is gone
      return joined(line.slice(0, at), line.slice(at + 1 + random(20)));
  }
}

function replaceField(line: Uint8Array, random: Random, piece: Uint8Array): Uint8Array {
  const fields = latin1(line).split(" ");
  fields[random(fields.length)] = latin1(piece);
  return Uint8Array.from(fields.join(" "), (character) => character.charCodeAt(0));
}

function latin1(bytes: Uint8Array): string {
  return [...bytes].map((byte) => String.fromCharCode(byte)).join("");
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

/** Every line of a stream but its description is broken once, and one in five is there twice, broken in two ways. Returns how many that are. */
export function withMutatedLines(stream: Uint8Array, random: Random): { bytes: Uint8Array; lines: number } {
  const parts: Uint8Array[] = [];
  let lines = 0;
  let from = stream.indexOf(10) + 1;
  parts.push(stream.subarray(0, from));
  for (let to = stream.indexOf(10, from); to >= 0; to = stream.indexOf(10, from)) {
    for (let copies = random(5) === 0 ? 2 : 1; copies > 0; copies--) {
      parts.push(mutated(stream.subarray(from, to), random), Uint8Array.of(10));
      lines++;
    }
    from = to + 1;
  }
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return { bytes, lines };
}
