/**
 * Text of a JSON value, for what JSON has no word for too: a bigint becomes a number where that is exact and decimal text otherwise; NaN and
 * infinities become null, as a figure that is not known.
 */
export function toJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, exact, indent);
}

/** What a terminal would obey, or a reader misread, in the text of a JSON string; those below a space are escaped by everybody. */
const steering = /[\u007f-\u009f]|[\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * The summary of a run as a person or a program reads it from stdout: one object, indented, with a newline at its end. Names in it come from
 * others and the reader may be a terminal, so what steers one is written as `\uNNNN`: the same text to a parser.
 */
export function renderSummary(summary: object): string {
  return `${toJson(summary, 2).replaceAll(steering, escaped)}\n`;
}

/** A character above U+FFFF is two. */
function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`).join("");
}

function exact(_key: string, value: unknown): unknown {
  if (typeof value !== "bigint") return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}
