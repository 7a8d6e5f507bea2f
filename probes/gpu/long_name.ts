import { TEXT_BYTES } from "../../lib/programs/schema.ts";

/** In how many records a name is told, if it is so long: kernels of CUTLASS 3 and of FlashAttention differ behind the thousandth character. */
const PIECES = 32;

/**
 * Tells what of the name at this address is more than one record has room for, piece by piece: `emit` sends one. What lies behind a name's end is told as
 * well, and not looked at.
 */
export function tellMore(name: string, emit: (piece: string) => string): string {
  const piece = (i: number): string => {
    if (i === PIECES) return "";
    return `if (*(uint8 *)(${name} + ${TEXT_BYTES * i - 1}) != 0) { ${emit(`buf(${name} + ${TEXT_BYTES * i}, ${TEXT_BYTES})`)} ${piece(i + 1)} }`;
  };
  return piece(1);
}
