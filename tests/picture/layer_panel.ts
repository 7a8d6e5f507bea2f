import { quantity } from "../../lib/events/quantity.ts";
import type { Slice } from "../../lib/events/span.ts";
import { operatorHue } from "./palette.ts";
import { Scale } from "./scale.ts";
import type { SeenRun } from "./seen_run.ts";
import { fitting, rect, text } from "./svg.ts";

const HEIGHT = 48;

/** Operators of one layer of one token on worker 0, from the first that belongs to the layer to the last. */
export function layerOf({ slices }: SeenRun, token: Slice, layer: number): Slice[] {
  const ops = slices.filter(({ category, args, start, end }) =>
    category === "ggml.op" && args?.worker === 0 && start >= token.start && end <= token.end
  ).sort((a, b) => a.start - b.start);
  const mine = (op: Slice) => op.args?.layer === layer;
  return ops.slice(ops.findIndex(mine), ops.findLastIndex(mine) + 1);
}

/** Each operator with its name, its tensor and its time, as far as there is room. */
export function layerPanel(ops: readonly Slice[], left: number, right: number, top: number): { svg: string; scale: Scale; bottom: number } {
  const first = ops[0]!, last = ops.at(-1)!;
  const scale = new Scale(first.start, last.end, left, right);
  const y = top + 6;
  let svg = text(left - 10, y + 28, "worker 0", { anchor: "end", style: "small pale" });
  for (const op of ops) {
    const x = scale.x(op.start), width = scale.x(op.end) - x - 1;
    svg += rect(x, y, width, HEIGHT, operatorHue(op.name), 3);
    const lines = [op.name, String(op.args?.tensor ?? ""), quantity(op.end - op.start, "ns")];
    const style = operatorHue(op.name) === "quiet" ? "" : "inside";
    lines.forEach((content, i) => {
      const shown = fitting(content, i === 0 ? 12.5 : 10, width - 6);
      if (shown !== "") svg += text(x + 4, y + 14 + i * 14, shown, { style: `tiny ${style} ${i === 0 ? "bold" : ""}`.trim() });
    });
  }
  return { svg: scale.axis(top, y + HEIGHT + 6, first.start, 10) + svg, scale, bottom: y + HEIGHT + 24 };
}
