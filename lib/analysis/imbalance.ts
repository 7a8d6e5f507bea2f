/**
 * By how much whoever is the slowest from one barrier to the next works longer than the mean of all. Together they are `allNs` at it, of which they wait
 * for `waitNs`: the last to come to a barrier waits for nobody. Null where nobody works.
 */
export function imbalanceOf(waitNs: number, allNs: number): number | null {
  return allNs > waitNs ? waitNs / (allNs - waitNs) : null;
}
