import { findClose } from "./template.ts";

/**
 * `REPEAT($i, count) { … }` in a template: the block once for each number below `count` and below what the bpftrace at hand can do, in no order. The
 * kernel's verifier follows each turn of a `while` with all its branches, and gives up at some dozens. From 0.22 on bpftrace can walk through a map,
 * whose turns the verifier looks at once; so there is a map that holds the numbers. A walk takes a millisecond whatever is found, because the kernel
 * looks into as many places as the map has room for: few turns are made without one.
 */
const WORD = /REPEAT\((\$\w+), ([^{]+)\) (?=\{)/;
/** How many times that is. */
const NUMBER = /\bREPEATS\b/g;

/** Keys of `@each`, and how many of them a turn of the loop that fills it makes. */
export const MOST_REPEATS = 512;
const AT_ONCE = 8;
/** Turns of a `while`. */
const FEW = 20;

export function isRepeating(template: string): boolean {
  return template.search(WORD) >= 0;
}

/** For the program's beginning. */
export function repeatBegin(): string {
  const turns = MOST_REPEATS / AT_ONCE;
  const keys = Array.from({ length: AT_ONCE }, (_, i) => `@each[$each + ${i * turns}] = (uint64)1;`);
  return `$each = (uint64)0; while ($each < ${turns}) { ${keys.join(" ")} $each = $each + 1; }`;
}

export function replaceRepeats(text: string, walksMaps: boolean): string {
  const body = text.replace(NUMBER, String(walksMaps ? MOST_REPEATS : FEW));
  const found = WORD.exec(body);
  if (!found) return body;
  const [head, variable, count] = found;
  const open = found.index + head.length, close = findClose(body, open);
  const turn = `if (${variable} < ${count}) {${body.slice(open + 1, close)}}`;
  const few = `$turn = (uint64)0; while ($turn < ${FEW}) { ${variable} = $turn; $turn = $turn + 1; ${turn} }`;
  const walk = `for ($each : @each) { ${variable} = (uint64)$each.0; ${turn} }`;
  const turns = walksMaps ? `if (${count} <= ${FEW}) { ${few} } else { ${walk} }` : few;
  return replaceRepeats(body.slice(0, found.index) + turns + body.slice(close + 1), walksMaps);
}
