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
