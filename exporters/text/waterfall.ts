import { harmless } from "../../lib/events/text.ts";
import type { Waterfall } from "../../lib/events/view.ts";
import { clip, columns, left, right, wrap } from "./cells.ts";
import type { Palette } from "./palette.ts";
import { quantity } from "../../lib/events/quantity.ts";

const gap = "  ";
/** Wider bars only tear name and figure apart. */
const widestBar = 60;
const narrowestBar = 10;
/** Notes stand beside their step where the bars keep this much, otherwise under it. */
const barBesideNotes = 20;
const widestNote = 36;

/** Lines of a waterfall: name, bar on a common axis, duration, share of the whole; a note beside or under its step. */
export function waterfallLines({ total, steps }: Waterfall, width: number, paint: Palette): string[] {
  if (steps.length === 0) return [paint.quiet("(none)")];
  const names = steps.map(({ name }) => harmless(name));
  const notes = steps.map(({ note }) => harmless(note ?? ""));
  const figures = aligned(
    steps.map(({ duration }) => quantity(duration, "ns")),
    steps.map(({ duration }) => total > 0 ? quantity(duration / total, "ratio") : ""),
  );
  const nameWidth = Math.min(widest(names), Math.max(12, Math.floor((width - widest(figures)) * 0.45)));
  const free = width - nameWidth - widest(figures) - 2 * gap.length;
  const noteWidth = Math.min(widestNote, widest(notes)) + gap.length;
  const barWidth = Math.min(widestBar, Math.max(narrowestBar, free - noteWidth >= barBesideNotes ? free - noteWidth : free));
  const indent = " ".repeat(nameWidth + gap.length);
  const longest = Math.max(...steps.map(({ duration }) => duration));
  const lines = [indent + paint.quiet(axis(total, barWidth))];
  steps.forEach(({ start, duration }, i) => {
    const drawn = left(bar(start, duration, total, barWidth), barWidth);
    const painted = duration === longest ? paint.longest(drawn) : paint.bar(drawn);
    const line = left(clip(names[i]!, nameWidth), nameWidth) + gap + painted + gap + figures[i];
    const note = notes[i]!;
    if (note === "") lines.push(line);
    else if (gap.length + columns(note) <= free - barWidth) lines.push(line + gap + paint.quiet(note));
    else lines.push(line, ...wrap(note, width - indent.length).map((part) => indent + paint.quiet(part)));
  });
  return lines;
}

/** Two columns of figures, each aligned to the right. */
function aligned(first: readonly string[], second: readonly string[]): string[] {
  return first.map((text, i) => right(text, widest(first)) + (gap + right(second[i]!, widest(second))).trimEnd());
}

function widest(texts: readonly string[]): number {
  return Math.max(0, ...texts.map(columns));
}

/** `0 ───── 2.10 s ───── 4.21 s`: what the columns of the bars stand for. */
function axis(total: number, width: number): string {
  const [begin, middle, end] = ["0", quantity(total / 2, "ns"), quantity(total, "ns")];
  const free = width - columns(begin + middle + end) - 4;
  // No digit of the end's.
  if (free < 8) return columns(begin + end) < width ? begin + right(end, width - 1) : right(end, width);
  // The middle label is centred on the middle column, where a long end leaves room for that.
  const before = Math.min(free, Math.round((width - columns(middle)) / 2) - columns(begin) - 2);
  return `${begin} ${"─".repeat(before)} ${middle} ${"─".repeat(free - before)} ${end}`;
}

const fractions = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/**
 * A bar from `start` on, in eighths of a column. There is only one character that begins inside a column, the right half, so a start is
 * drawn to the half column. What took any time at all is seen.
 */
function bar(start: number, duration: number, total: number, width: number): string {
  if (!(total > 0) || !(duration > 0)) return "";
  const eighths = (time: number) => Math.round(Math.min(1, Math.max(0, time / total)) * width * 8);
  const from = Math.min(eighths(start), width * 8 - 1);
  const to = Math.max(eighths(start + duration), from + 1);
  const first = Math.floor(from / 8);
  if (to <= 8 * (first + 1)) return " ".repeat(first) + (from % 8 >= 4 ? "▐" : fractions[to - 8 * first] ?? "█");
  const opening = from % 8 >= 4 ? "▐" : "█";
  const full = Math.floor(to / 8) - first - 1;
  return " ".repeat(first) + opening + "█".repeat(full) + fractions[to % 8];
}
