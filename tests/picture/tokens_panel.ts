import type { Slice } from "../../lib/events/span.ts";
import { quantity } from "../../lib/events/quantity.ts";
import { operatorHue } from "./palette.ts";
import { Scale } from "./scale.ts";
import type { SeenRun } from "./seen_run.ts";
import { Bars, rect, text, widthOf } from "./svg.ts";

const LANE = 20;

/** The calls that generate a token each, in order. */
export function tokensOf({ slices }: SeenRun): Slice[] {
  return slices.filter(({ category, args, open }) => category === "llama.decode" && args?.phase === "decode" && !open).sort((a, b) =>
    a.start - b.start
  );
}

/** Some tokens with their calls, their graphs, and a row of operators for each worker. */
export function tokensPanel(
  run: SeenRun,
  tokens: readonly Slice[],
  left: number,
  right: number,
  top: number,
): { svg: string; scale: Scale; bottom: number } {
  const first = tokens[0]!, last = tokens.at(-1)!;
  const margin = (last.end - first.start) * 0.01;
  const scale = new Scale(first.start - margin, last.end + margin, left, right);
  const inside = run.slices.filter(({ start, end }) => start < scale.to && end > scale.from);
  const workers = [...new Map(inside.filter(({ category }) => category === "ggml.op").map(({ track }) => [track.name, track])).values()]
    .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0));
  const bars = new Bars();
  let svg = "", y = top + 6;
  const row = (name: string) => text(left - 10, y + 14, name, { anchor: "end", style: "small pale" });
  const wide = (slice: Slice, hue: string, label: string) => {
    const from = Math.max(scale.from, slice.start), to = Math.min(scale.to, slice.end);
    const x = scale.x(from), width = scale.x(to) - x;
    const name = widthOf(label, 11) + 12 < width ? text(x + 6, y + 14, label, { style: "small inside" }) : "";
    return rect(x, y, width, LANE, hue) + name;
  };
  svg += row("calls");
  for (const slice of inside.filter(({ category }) => category === "llama.decode")) {
    svg += wide(slice, "green", `llama_decode  ${quantity(slice.end - slice.start, "ns")}`);
  }
  for (const slice of inside.filter(({ category }) => category === "llama.sample")) svg += wide(slice, "pink", "sample");
  y += LANE + 4;
  svg += row("graphs");
  for (const slice of inside.filter(({ category }) => category === "ggml.graph")) {
    svg += wide(slice, "sky", `ggml_graph_compute  ${quantity(slice.end - slice.start, "ns")}  ${slice.args?.nodes} nodes`);
  }
  for (const worker of workers) {
    y += LANE + 4;
    svg += row(worker.name);
    for (const { start, end, name } of inside.filter(({ category, track }) => category === "ggml.op" && track.name === worker.name)) {
      bars.add(scale.x(start), y, scale.x(end) - scale.x(start) - 0.2, LANE, operatorHue(name));
    }
  }
  const bottom = y + LANE + 6;
  return { svg: scale.axis(top, bottom, first.start, 10) + svg + bars.svg(), scale, bottom: bottom + 18 };
}
