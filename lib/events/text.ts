/** A leading U+FEFF is a part of a name like any other. */
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });
const strict = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/**
 * Bytes from outside as text: UTF-8, and each byte that is none as `\xNN`, so that two names that differ stay two names. The one place that
 * decides it, for every file, argument and name that reaches a trace, a summary or a terminal.
 */
export function textOf(bytes: Uint8Array): string {
  const text = lenient.decode(bytes);
  return text.includes("\ufffd") ? spelled(bytes) : text;
}

/** The beginning of a longer text: a character that was cut in two is left out, and `…` says that something is missing. */
export function shortenedText(bytes: Uint8Array): string {
  let end = bytes.length;
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const length = sequenceLength(bytes[bytes.length - back]!);
    if (length > back) end = bytes.length - back;
    if (length > 0) break;
  }
  return `${textOf(bytes.subarray(0, end))}…`;
}

function spelled(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes[at]!);
    const character = length > 0 ? decoded(bytes.subarray(at, at + length)) : null;
    text += character ?? `\\x${bytes[at]!.toString(16).padStart(2, "0")}`;
    at += character === null ? 1 : length;
  }
  return text;
}

/** Bytes of the character that begins with this one; 0 where none does. */
function sequenceLength(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

function decoded(bytes: Uint8Array): string | null {
  try {
    return strict.decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Control and format characters, what else ends a line, and what is no character (U+FFFF, half of a pair): a name may contain any, and must not steer
 * the reader's terminal, look like another, or stand in XML, which a picture is.
 */
const steering = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]/gu;

/** Nearly every text. To compile the expression above takes 10 ms, at the first text. */
const plain = /^[ -~…]*$/;

/** The text in one line and without characters that a terminal obeys. */
export function harmless(text: string): string {
  return plain.test(text) ? text : text.replaceAll(steering, "\ufffd");
}

/** The same for text of several lines. */
export function harmlessLines(text: string): string {
  return text.replaceAll(steering, (character) => character === "\n" ? character : "\ufffd");
}

/** No longer than a command line that one can take in at a glance. */
export function shortened(text: string): string {
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}

/** `1 line`, `2 lines`. */
export function counted(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? "" : "s"}`;
}

/** A fraction as people read it: 0.0123 is `1.2 %`, and what is small keeps two digits. */
export function percent(fraction: number): string {
  const value = fraction * 100;
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 1 ? 1 : Math.abs(value) >= 0.1 ? 2 : 3;
  return `${value.toFixed(digits)} %`;
}

/** ` without io and sched`, behind a figure that lacks these. */
export function without(what: readonly string[]): string {
  return what.length === 0 ? "" : ` without ${what.join(" and ")}`;
}

/** What a file is called, without its folders. */
export function lastPart(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** A file's name where it is also that of another. */
export function toldApart(name: string, inode: unknown): string {
  return `${name} (inode ${inode})`;
}

/** Which name that is, of the file alone or {@link toldApart}. */
export function nameAlone(told: string): string {
  return told.replace(/ \(inode \d+\)$/, "");
}
