import { quantity } from "../../lib/events/quantity.ts";
import type { Slice } from "../../lib/events/span.ts";
import { type Hue, startGroups } from "./palette.ts";
import { Scale } from "./scale.ts";
import type { SeenRun } from "./seen_run.ts";
import { Bars, line, rect, text, widthOf } from "./svg.ts";

const RIBBON = 54, LANE = 15;
/** Pixels of the ribbon that are summed up in one column. */
const COLUMN = 3;

/** From exec to the last token: what explains the time in each column, and below it the rows of the trace. */
export function startPanel(run: SeenRun, left: number, right: number, top: number, end: number): { svg: string; scale: Scale; bottom: number } {
  const scale = new Scale(0, end, left, right);
  const ribbon = top + 76;
  const rows = ribbon + RIBBON + 12;
  const lanes = rowsOf(run, scale, rows);
  const bottom = rows + lanes.count * (LANE + 4) + 2;
  return {
    svg: scale.axis(ribbon, bottom, 0, 10) + flags(run, scale, ribbon, bottom) + columns(run, scale, ribbon) + lanes.svg,
    scale,
    bottom: bottom + 18,
  };
}

/** Kinds by their share in each column, the explained ones at the bottom. */
function columns({ start, net }: SeenRun, scale: Scale, top: number): string {
  const groupOf = new Map(startGroups.flatMap(({ kinds }, i) => kinds.map((kind) => [kind, i] as const)));
  const width = scale.x(start.totalNs) - scale.left;
  const count = Math.ceil(width / COLUMN);
  const sums = Array.from({ length: count }, () => new Float64Array(startGroups.length));
  const perColumn = start.totalNs / count;
  for (const step of start.steps) {
    const from = net(start.root!.execNs + step.startNs), to = net(start.root!.execNs + step.endNs);
    for (let i = Math.floor(from / perColumn); i < count && i * perColumn < to; i++) {
      sums[i]![groupOf.get(step.kind)!]! += Math.min(to, (i + 1) * perColumn) - Math.max(from, i * perColumn);
    }
  }
  const bars = new Bars();
  for (const [i, column] of sums.entries()) {
    let y = top + RIBBON;
    for (const [group, ns] of column.entries()) {
      const height = ns / perColumn * RIBBON;
      if (height < 0.2) continue;
      y -= height;
      bars.add(scale.left + i * COLUMN, y, COLUMN + 0.15, height, startGroups[group]!.hue);
    }
  }
  return bars.svg();
}

/** Milestones as flags above the ribbon, each to the left of its pole and above the flags whose poles it would run over. */
function flags({ start }: SeenRun, scale: Scale, top: number, bottom: number): string {
  let svg = "";
  const before: { readonly x: number; readonly level: number }[] = [];
  for (const { name, atNs } of start.milestones) {
    const label = `${name}  ${quantity(atNs, "ns")}`;
    const x = scale.x(atNs), left = x - widthOf(label, 11) - 10;
    const level = Math.max(-1, ...before.filter((flag) => flag.x > left).map((flag) => flag.level)) + 1;
    before.push({ x, level });
    const y = top - 8 - level * 15;
    svg += line(x, y - 9, x, bottom, "mark") + text(x - 5, y, label, { anchor: "end", style: "small" });
  }
  return svg;
}

/** The rows of the trace, one below the other: name at the left, bars on the scale. */
function rowsOf({ slices, instants, start, net }: SeenRun, scale: Scale, top: number): { svg: string; count: number } {
  const bars = new Bars();
  let svg = "", y = top, count = 0;
  const row = (name: string) => {
    svg += text(scale.left - 10, y + 11, name, { anchor: "end", style: "small pale" });
    const at = y;
    y += LANE + 4;
    count++;
    return at;
  };
  const bar = (at: number, from: number, to: number, hue: Hue, label = "") => {
    const x = scale.x(net(from)), width = Math.min(scale.x(net(to)), scale.right) - x;
    if (width < 0) return;
    if (label === "") return bars.add(x, at, Math.max(width, 0.6), LANE, hue);
    svg += rect(x, at, width, LANE, hue);
    if (widthOf(label, 10) + 8 < width) svg += text(x + 5, at + 11, label, { style: `tiny ${hue === "quiet" ? "" : "inside"}` });
  };
  const exits = new Map(instants.filter(({ category }) => category === "process.exit").map(({ track, at }) => [track.pid, at]));
  for (const { track, name, at } of instants.filter(({ category }) => category === "process.exec")) {
    bar(
      row(`process ${track.pid}`),
      at,
      exits.get(track.pid) ?? start.root!.execNs,
      "quiet",
      track.pid === start.root!.pid ? name : `${name}: tests the library`,
    );
  }
  const of = (...categories: string[]) => slices.filter(({ category }) => categories.includes(category));
  const engine = row("llama.cpp");
  for (const slice of of("llama.load", "llama.context", "llama.decode")) bar(engine, slice.start, slice.end, engineHue(slice), label(slice));
  const files = row("files");
  for (const { start, end } of of("file.read", "file.open", "file.map")) bar(files, start, end, "teal");
  const libraries = row("libraries");
  for (const { start, end } of of("library.load")) bar(libraries, start, end, "violet");
  const faults = row("page faults");
  for (const { start, end } of of("memory.touch")) bar(faults, start, end, "amber");
  return { svg: svg + bars.svg(), count };
}

function engineHue({ category }: Slice): Hue {
  return category === "llama.load" ? "blue" : category === "llama.context" ? "sky" : "green";
}

/** Tokens are many and small: they need no rounded corners. */
function label({ category, name, args }: Slice): string {
  return category !== "llama.decode" ? name : args?.phase === "prefill" ? "prefill" : "";
}
