/**
 * What the number of an inode is told modulo, here and by every probe: a prime just below 2^53, up to which a number is exact. Some file systems number
 * theirs above that (Lustre, an overlay with `xino`), one file after another; others are told as they are.
 */
export const INODES = 2 ** 53 - 111;

/** Of decimal digits, as the kernel writes them. */
export function inodeNumber(digits: string): number {
  return Number(BigInt(digits) % BigInt(INODES));
}
