import type { Field } from "../events/event.ts";

/**
 * The short form of a record that says one address: `<kind> <nsecs> x<hexadecimal>`, thread and address in one number, because what bpftrace prints costs
 * it by the number, a third of the whole line. The process is the one that the thread's last line of another record of the probe named.
 *
 * An address on x86-64 has 47 bits; of what lies on 16 bytes the lowest four are 0, and of where libraries, their heap and their stacks lie the highest is 1.
 * The other 42 and a thread's 22 (see who.ts) make 64. What lies elsewhere, as everything does on aarch64, is told in full.
 */

/** Unit of an address that is likely to lie on 16 bytes. */
export const ALIGNED = "aligned address";

/** Whether lines of such a record may be short ones. */
export function isShort(fields: readonly Field[]): boolean {
  return fields.length === 1 && fields[0]!.unit === ALIGNED;
}

const THREAD_BITS = 22, ALIGNMENT_BITS = 4, HIGHEST = 46;

/** Whether a program can say so, as it writes it; `address` is a variable of it. */
export function fitsShort(address: string): string {
  return `(${address} & ${2 ** ALIGNMENT_BITS - 1}) == 0 && (${address} >> ${HIGHEST}) == 1`;
}

/** The number, whose highest bit, the address' own, is shifted out. */
export function shortNumber(address: string): string {
  return `(${address} << ${THREAD_BITS - ALIGNMENT_BITS}) + tid`;
}

// Of the number's upper and lower 32 bits, because JavaScript's numbers hold 53.

export function shortThread(low: number): number {
  return low & (2 ** THREAD_BITS - 1);
}

export function shortAddress(high: number, low: number): number {
  return 2 ** HIGHEST + ((high >>> 0) * 2 ** (32 - THREAD_BITS) + (low >>> THREAD_BITS)) * 2 ** ALIGNMENT_BITS;
}
