import assert from "node:assert/strict";
import type { Chart } from "../lib/events/view.ts";
import { png } from "./charts/png.ts";
import { chartsSvg } from "./charts/svg.ts";
import { renderText } from "./text.ts";

const chart: Chart = {
  type: "chart",
  title: "Requests <in> flight",
  unit: "count",
  form: "lines",
  intervals: [[0, 5000], [5000, 10_000], [20_000, 25_000]],
  series: [{ name: "a&b\u001b", values: [0, 12, 6] }],
};
const span = [0, 25_000] as const;

/** Points of the lines of one colour: the first series has the first of the palette. */
function lines(svg: string, colour: string): string[] {
  return [...svg.matchAll(/<path d="([^"]*)" fill="(?:none|transparent)"[^>]*stroke="(#\w+)"/g)].filter(([, , stroke]) => stroke === colour).map((
    [, d],
  ) => d!);
}

/** 32 pixels for a second, 150 for twelve requests; rounded. */
function points(svg: string): number[][] {
  return lines(svg, "#0072b2").flatMap((d) =>
    [...d.matchAll(/[ML]?([\d.]+) ([\d.]+)/g)].map(([, x, y]) => [Math.round(Number(x)), Math.round(Number(y))])
  );
}

Deno.test("charts: a value stands for all of its interval, and none between intervals that are apart", () => {
  const svg = chartsSvg([chart], span);
  assert.deepEqual(points(svg), [[90, 184], [250, 184], [250, 34], [410, 34], [730, 109], [890, 109]]);
  assert.ok(svg.includes("Requests &lt;in&gt; flight") && svg.includes("a&amp;b"));
  assert.ok(!svg.includes("\u001b"));
});

Deno.test("charts: a value stands for all of its interval also between two of which nothing is known", () => {
  const between: Chart = { ...chart, intervals: [[0, 5000], [5000, 10_000], [10_000, 15_000]], series: [{ name: "a", values: [null, 12, null] }] };
  assert.deepEqual(points(chartsSvg([between], span)), [[250, 34], [410, 34]]);
});

Deno.test("charts: what happens at the same time stands at the same place, also where times are drawn by powers of two", () => {
  const second: Chart = { ...chart, title: "Latency", unit: "ns", form: "log", series: [{ name: "vda", values: [64_000, 2_048_000, null] }] };
  const svg = chartsSvg([chart, second], span);
  const [first, later] = ["#0072b2", "#d55e00"].map((colour) => lines(svg, colour).join(" "));
  const columns = (d: string | undefined) => [...d!.matchAll(/[ML ]([\d.]+) [\d.]+/g)].map(([, x]) => Math.round(Number(x)));
  assert.deepEqual([...new Set(columns(later))], [...new Set(columns(first))].filter((x) => x < 500));
  for (const label of ["64.0 µs", "128 µs"]) assert.ok(svg.includes(`>${label.replace(".0", "")}<`), label);
});

Deno.test("charts: in a chart no two series have one colour, and one name has the same in all", () => {
  const named = (...names: string[]): Chart => ({ ...chart, series: names.map((name) => ({ name, values: [1, 2, 3] })) });
  const alone = named("a", "b", "c", "d", "e", "f", "g", "h"), mixed = named("i", "j", "k", "b");
  const drawn = [...chartsSvg([alone, mixed], span).matchAll(/ fill="none"[^>]* stroke="(#\w+)" stroke-width="1.5"/g)].map(([, colour]) => colour);
  assert.deepEqual([drawn.length, new Set(drawn.slice(0, 8)).size, new Set(drawn.slice(8)).size], [12, 8, 4]);
  assert.equal(drawn[11], drawn[1]);
});

Deno.test("charts: figures of one have its colour and one entry of the legend, and the title says which of its lines is dashed", () => {
  const devices = Array.from({ length: 8 }, (_, i) => `sd${"abcdefgh"[i]}`);
  const of = (figure: string, dashed: boolean) =>
    devices.map((name, i) => ({ name: `${name} ${figure}`, of: { name, figure, dashed }, values: [i + 1, i + 2, i + 3] }));
  const both: Chart = { ...chart, title: "Latency", series: [...of("p50", true), ...of("p99", false)] };
  const requests: Chart = { ...chart, series: devices.map((name) => ({ name, values: [1, 2, 3] })) };
  const svg = chartsSvg([both, requests], span);
  const drawn = [...svg.matchAll(/ fill="none"[^>]* stroke="(#\w+)" stroke-width="1.5"([^>]*)/g)];
  const [p50, p99, rate] = [0, 8, 16].map((from) => drawn.slice(from, from + 8).map(([, colour]) => colour));
  assert.equal(new Set(p50).size, 8);
  assert.deepEqual([p99, rate], [p50, p50]);
  assert.deepEqual(drawn.map(([, , rest]) => rest!.includes("dasharray")), drawn.map((_, i) => i < 8));
  assert.ok(svg.includes(">Latency: p50 dashed, p99<"));
  // In the legends of both charts.
  assert.deepEqual([svg.split(">sda<").length - 1, svg.split(">sda p50<").length - 1], [2, 0]);
});

Deno.test("charts: a picture of dots has twice as many as the drawing, and its words", async () => {
  const size = (bytes: Uint8Array) => {
    assert.deepEqual([...bytes.subarray(0, 8)], [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    return [view.getUint32(16), view.getUint32(20)];
  };
  const drawn = await png(chartsSvg([chart], span));
  const [, width, height] = /<svg width="(\d+)" height="(\d+)"/.exec(chartsSvg([chart], span))!.map(Number);
  assert.deepEqual(size(drawn), [2 * width!, 2 * height!]);
  const renamed = await png(chartsSvg([{ ...chart, title: "Requests" }], span));
  assert.notDeepEqual(renamed, drawn, "a title is drawn");
});

Deno.test("charts: whatever a process calls itself, the picture is XML", async () => {
  for (const name of ["\uffff 12", "\ufffe 12", "\ud800 12", "\u0001 12"]) {
    const drawn = await png(chartsSvg([{ ...chart, title: name, series: [{ name, values: [0, 12, 6] }] }], span));
    assert.ok(drawn.length > 0, JSON.stringify(name));
  }
});

Deno.test("charts: on a terminal a column is the highest of its intervals, and what is not known is empty", () => {
  const text = (values: readonly (number | null)[], width: number) =>
    renderText([{ ...chart, series: [{ name: "a", values }] }], { width, colour: false }).split("\n")[1];
  assert.equal(text([0, 1, null, 8], 100), "  a  ▁▂ █  at most 8");
  assert.equal(text(Array.from({ length: 1000 }, (_, i) => i === 500 ? 100 : 0), 40)!.match(/█/g)?.length, 1);
  assert.ok(text(Array.from({ length: 1000 }, () => 1), 40)!.length <= 40);
});
