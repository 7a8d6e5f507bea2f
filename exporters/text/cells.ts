/** Text on a terminal: how many columns it takes, and how to make it fit. */

const combining = /\p{Mn}|\p{Me}/u;
/** East Asian wide and full-width characters, and emoji: two columns each. */
const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const plain = /^[ -~]*$/;

/** Columns that a text takes. */
export function columns(text: string): number {
  if (plain.test(text)) return text.length;
  let sum = 0;
  for (const character of text) sum += combining.test(character) ? 0 : wide.test(character) ? 2 : 1;
  return sum;
}

export function left(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - columns(text)));
}

export function right(text: string, width: number): string {
  return " ".repeat(Math.max(0, width - columns(text))) + text;
}

/** Takes characters out of the middle until the text fits: of a path or a tensor, the end tells most, and the beginning what it is. */
export function clip(text: string, width: number): string {
  if (columns(text) <= width) return text;
  if (width < 2) return "…".slice(0, width);
  const characters = [...text];
  const head = take(characters, Math.floor((width - 1) / 3));
  const tail = take(characters.reverse(), width - 1 - columns(head));
  return head + "…" + [...tail].reverse().join("");
}

function take(characters: readonly string[], width: number): string {
  let taken = "";
  for (const character of characters) {
    if (columns(taken + character) > width) break;
    taken += character;
  }
  return taken;
}

/** Breaks at spaces into lines of at most `width` columns; a word that is longer keeps a line of its own. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && columns(line) + 1 + columns(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines;
}
