import { harmless } from "../../lib/events/text.ts";
import type { Facts, Note } from "../../lib/events/view.ts";
import { columns, left, wrap } from "./cells.ts";
import type { Palette } from "./palette.ts";
import { quantity } from "../../lib/events/quantity.ts";

const gap = "  ";
/** A longer value would push every note to the edge. */
const widestValue = 24;

/** Lines of figures: name, value, and the note behind it where it fits, otherwise under it. */
export function factLines({ facts }: Facts, width: number, paint: Palette): string[] {
  const names = facts.map(({ name }) => harmless(name));
  const values = facts.map(({ value, unit }) => harmless(quantity(value, unit)));
  const nameWidth = Math.max(0, ...names.map(columns));
  const valueWidth = Math.min(widestValue, Math.max(0, ...values.map(columns)));
  const indent = " ".repeat(nameWidth + gap.length);
  return facts.flatMap(({ note }, i) => {
    const [first, ...more] = wrap(values[i]!, Math.max(20, width - indent.length));
    const head = left(names[i]!, nameWidth) + gap + first;
    const rest = more.map((line) => indent + line);
    if (!note) return [head, ...rest];
    const text = harmless(note);
    const beside = left(head, indent.length + valueWidth) + gap;
    if (more.length === 0 && columns(beside) + columns(text) <= width) return [beside + paint.quiet(text)];
    return [head, ...rest, ...wrap(text, Math.max(20, width - indent.length)).map((line) => indent + paint.quiet(line))];
  });
}

/** A note as a paragraph behind its mark; a command in one line, however long: a terminal's own wrapping can be copied, a line's end not. */
export function noteLines({ level, text, command }: Note, width: number, paint: Palette): string[] {
  const mark = level === "warning" ? "Warning: " : "Note: ";
  const lines = wrap(harmless(text), Math.max(20, width - mark.length));
  const painted = level === "warning" ? paint.warning(mark) : paint.quiet(mark);
  const indent = " ".repeat(mark.length);
  return [...lines.map((line, i) => (i === 0 ? painted : indent) + line), ...command === undefined ? [] : [indent + harmless(command)]];
}
