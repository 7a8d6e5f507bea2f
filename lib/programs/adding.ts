/**
 * Sums in a template, by key: `ADD(@map[key], number)` adds, `SUM(@map[key])` is what they make, `EMPTY(@map[key])` begins anew. bpftrace's own `sum()`
 * adds where the number lies, while an assignment looks for room for the new one and gives back that of the old: a quarter of what a hit costs. Versions
 * that cannot read such a sum in a program add by assignment.
 */
const WORD = /\b(ADD|SUM|EMPTY)\((@\w+\[[^\]]*\])(?:, ([^;]*))?\)/g;

/** `readable`: a program can read what `sum()` has added. */
export function replaceSums(body: string, readable: boolean): string {
  return body.replace(WORD, (_, word: string, map: string, number: string) => {
    if (word === "ADD") return readable ? `${map} = sum((uint64)(${number}))` : `${map} = ${map} + (${number})`;
    if (word === "SUM") return readable ? `(uint64)${map}` : map;
    // The assignment tells the map's type to whoever reads it further down.
    return readable ? `${map} = sum((uint64)0); delete(${map})` : `${map} = (uint64)0`;
  });
}
