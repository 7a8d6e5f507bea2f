import { NAME_BYTES, TEXT_BYTES } from "../../lib/programs/schema.ts";

/**
 * Tells what of the name at this address is more than one record has room for, piece by piece: `emit` sends one. What lies behind a name's end is told as
 * well, and not looked at.
 */
export function tellMore(name: string, emit: (piece: string) => string): string {
  const piece = (i: number): string => {
    if (i * TEXT_BYTES === NAME_BYTES) return "";
    return `if (*(uint8 *)(${name} + ${TEXT_BYTES * i - 1}) != 0) { ${emit(`buf(${name} + ${TEXT_BYTES * i}, ${TEXT_BYTES})`)} ${piece(i + 1)} }`;
  };
  return piece(1);
}

/** Whether more of a name may come: what fills a record is told as cut off. */
export function isCut(name: string): boolean {
  return name.endsWith("…");
}

/** A name that was cut off, with its next piece. */
export function joined(before: string, piece: string): string {
  return before.slice(0, -1) + piece;
}
