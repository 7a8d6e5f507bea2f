/** Where the first item stands for which `is` holds, of items in such an order that it holds for all behind it as well; their number where there is none. */
export function firstIndex<T>(items: readonly T[], is: (item: T) => boolean): number {
  let low = 0, high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (is(items[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** A part of a process's addresses, or of a file. */
export interface Piece {
  readonly at: number;
  readonly bytes: number;
}

/** The last of these pieces, in their order, that begins there or before, if it reaches so far. Pieces inside others are rare, and any of them will do. */
export function holding<T extends Piece>(pieces: readonly T[], at: number): T | null {
  const piece = pieces[firstIndex(pieces, (piece) => piece.at > at) - 1];
  return piece && at < piece.at + piece.bytes ? piece : null;
}
