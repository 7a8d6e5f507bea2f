/**
 * Sums in a template, by key, or without: `ADD(@map[key], number)` adds, `SUM(@map[key])` is what they make, `EMPTY(@map[key])` begins anew.
 * bpftrace's own `sum()` adds where the number lies, while an assignment looks for room for the new one and gives back that of the old: a quarter of
 * what a hit costs. Versions that cannot read such a sum in a program add by assignment.
 */
const WORD = /\b(ADD|SUM|EMPTY)\((@\w+(?:\[[^\]]*\])?)(?:, ([^;]*))?\)/g;

/** `readable`: a program can read what `sum()` has added. */
export function replaceSums(body: string, readable: boolean): string {
  return body.replace(WORD, (_, word: string, map: string, number: string) => {
    if (word === "ADD") return readable ? `${map} = sum((uint64)(${number}))` : `${map} = ${map} + (${number})`;
    if (word === "SUM") return readable ? `(uint64)${map}` : map;
    // The assignment tells the map's type to whoever reads it further down.
    return readable ? `${map} = sum((uint64)0); delete(${map})` : `${map} = (uint64)0`;
  });
}

/**
 * Whole maps of sums in a template: `TELL(@map[key, …]);` tells the rows of one whose keys have so many numbers, `CLEAR(@map);` empties it. bpftrace does
 * its own `print` and `clear` when it comes to read that it shall, which without a processor for it is seconds later; so a program that can walk through
 * sums prints the same lines itself.
 */
const WHOLE = /\b(TELL|CLEAR)\((@\w+)(?:\[([^\]]*)\])?\);/g;

/** `walks`: a program can walk through a map and read sums there. */
export function replaceWhole(body: string, walks: boolean): string {
  return body.replace(WHOLE, (_, word: string, map: string, key: string = "") => {
    if (!walks) return `${word === "TELL" ? "print" : "clear"}(${map});`;
    if (word === "CLEAR") return `for ($row : ${map}) { delete(${map}, $row.0); }`;
    const numbers = key.split(",").map((_, i, all) => all.length === 1 ? "$row.0" : `$row.0.${i}`);
    return `for ($row : ${map}) { printf("${map}[${numbers.map(() => "%lld").join(", ")}]: %llu\\n", ${numbers.join(", ")}, (uint64)$row.1); }`;
  });
}

/** bpftrace itself has to read sums while the program counts. */
export function isReadByBpftrace(template: string, walks: boolean): boolean {
  return !walks && template.search(WHOLE) >= 0;
}
