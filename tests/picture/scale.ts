import { quantity } from "../../lib/events/quantity.ts";
import { line, text, tickStep } from "./svg.ts";

/** Time on the horizontal, from `from` to `to` nanoseconds across [left, right] pixels. */
export class Scale {
  constructor(readonly from: number, readonly to: number, readonly left: number, readonly right: number) {}

  x(ns: number): number {
    return this.left + (ns - this.from) / (this.to - this.from) * (this.right - this.left);
  }

  /** Grid lines from `top` to `bottom` with their times, counted from `zero`, written below. */
  axis(top: number, bottom: number, zero: number, count = 8): string {
    const step = tickStep(this.to - this.from, count);
    let svg = "";
    for (let at = Math.ceil((this.from - zero) / step) * step; zero + at <= this.to; at += step) {
      const x = this.x(zero + at);
      const label = at === 0 ? "0" : quantity(at, "ns").replace(/\.0+ /, " ").replace(/(\.\d)0 /, "$1 ");
      svg += line(x, top, x, bottom, "grid") + text(x, bottom + 14, label, { anchor: "middle", style: "tiny pale" });
    }
    return svg;
  }
}
