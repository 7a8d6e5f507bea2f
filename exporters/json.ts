/**
 * Text of a JSON value, for what JSON has no word for too: a bigint becomes a number where that is exact and decimal text otherwise; NaN and
 * infinities become null, as a figure that is not known.
 */
export function toJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, exact, indent);
}

/** The summary of a run as a person or a program reads it from stdout: one object, indented, with a newline at its end. */
export function renderSummary(summary: object): string {
  return `${toJson(summary, 2)}\n`;
}

function exact(_key: string, value: unknown): unknown {
  if (typeof value !== "bigint") return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}
