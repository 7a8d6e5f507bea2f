/**
 * By how much the slowest worker works longer than the mean of all, who begin and end together and are `allNs` at it, of which they wait for others for
 * `waitNs`: whoever is the last to come to a barrier waits for nobody. Null where nobody works.
 */
export function imbalanceOf(waitNs: number, allNs: number): number | null {
  return allNs > waitNs ? waitNs / (allNs - waitNs) : null;
}
