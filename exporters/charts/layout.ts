import type { EChartsCoreOption } from "echarts/core";
import { harmless } from "../../lib/events/text.ts";
import type { Chart, Series, Unit } from "../../lib/events/view.ts";
import { quantity } from "../../lib/events/quantity.ts";

/** Pixels. Left of a chart is room for its figures, and right for the names of its series. */
export const WIDTH = 1100;
const LEFT = 90, RIGHT = 210, TOP = 34, HEIGHT = 150, GAP = 18, BOTTOM = 34;
const FONT = "DejaVu Sans, sans-serif";
const INK = "#333333", QUIET = "#777777", RULE = "#e4e4e4";
/** Told apart also by those who see no red or no green. */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7a5195", "#8c8c00", "#999999"];

export function heightOf(charts: readonly Chart[]): number {
  return charts.length * (TOP + HEIGHT + GAP) - GAP + BOTTOM;
}

/** Charts one below the other, with one time axis: what happens at the same time stands at the same place. */
export function layout(charts: readonly Chart[], span: readonly [from: number, to: number]): EChartsCoreOption {
  const tops = charts.map((_, i) => i * (TOP + HEIGHT + GAP) + TOP);
  const colours = coloursOf(charts);
  return {
    animation: false,
    backgroundColor: "#ffffff",
    textStyle: { fontFamily: FONT, color: INK },
    useUTC: true,
    title: charts.map((chart, i) => ({
      text: harmless(titleOf(chart)),
      left: LEFT,
      top: tops[i]! - TOP + 6,
      textStyle: { fontFamily: FONT, fontSize: 14, fontWeight: "bold", color: INK },
    })),
    grid: tops.map((top) => ({ left: LEFT, right: RIGHT, top, height: HEIGHT })),
    legend: charts.map(({ series }, i) => ({
      data: [...new Set(series.map((one) => harmless(drawnAs(one))))],
      orient: "vertical",
      left: WIDTH - RIGHT + 12,
      top: tops[i]! - 6,
      itemWidth: 14,
      itemHeight: 8,
      itemGap: 4,
      icon: "roundRect",
      textStyle: { fontFamily: FONT, fontSize: 11, color: INK, overflow: "truncate", width: RIGHT - 46 },
    })),
    xAxis: charts.map((_, i) => ({
      type: "time",
      gridIndex: i,
      min: span[0],
      max: span[1],
      axisLabel: { color: QUIET, fontSize: 11, hideOverlap: true, show: i === charts.length - 1 },
      axisLine: { lineStyle: { color: QUIET } },
      axisTick: { show: i === charts.length - 1 },
      splitLine: { show: true, lineStyle: { color: RULE } },
      ...(i === charts.length - 1 && { name: "UTC", nameLocation: "end", nameTextStyle: { color: QUIET, fontSize: 11 } }),
    })),
    yAxis: charts.map(({ unit, form }, i) => ({
      type: form === "log" ? "log" : "value",
      ...(form === "log" ? { logBase: 2 } : { min: 0 }),
      gridIndex: i,
      splitNumber: 4,
      axisLabel: { color: QUIET, fontSize: 11, formatter: (value: number) => labelOf(value * scaleOf(form), unit) },
      splitLine: { lineStyle: { color: RULE } },
    })),
    series: charts.flatMap((chart, i) => chart.series.map((series) => lineOf(chart, i, series, colours.get(drawnAs(series))!))),
  };
}

/** What has a colour and an entry of the legend. */
function drawnAs({ name, of }: Series): string {
  return of?.name ?? name;
}

/** Where there are several figures of one, which lines are which. */
function titleOf({ title, series }: Chart): string {
  const figures = new Set(series.flatMap(({ of }) => of ? `${of.figure}${of.dashed ? " dashed" : ""}` : []));
  return figures.size === 0 ? title : `${title}: ${[...figures].join(", ")}`;
}

/** One for each name, wherever it stands: the least used of those that no other name of its charts has. */
function coloursOf(charts: readonly Chart[]): Map<string, string> {
  const colours = new Map<string, string>();
  const named = charts.map(({ series }) => series.map(drawnAs)), names = new Set(named.flat());
  for (const name of names) {
    const taken = new Set(named.filter((some) => some.includes(name)).flat().map((other) => colours.get(other)));
    const uses = (colour: string) => [...colours.values()].filter((used) => used === colour).length + (taken.has(colour) ? names.size : 0);
    colours.set(name, COLOURS.toSorted((a, b) => uses(a) - uses(b))[0]!);
  }
  return colours;
}

/** Powers of two are those of microseconds. */
function scaleOf(form: Chart["form"]): number {
  return form === "log" ? 1000 : 1;
}

function labelOf(value: number, unit: Unit): string {
  return quantity(value, unit).replace(/\.0+(?!\d)/, "");
}

function lineOf({ form, intervals }: Chart, index: number, series: Series, colour: string) {
  const { values, of } = series;
  return {
    type: "line",
    name: harmless(drawnAs(series)),
    xAxisIndex: index,
    yAxisIndex: index,
    data: steps(intervals, values.map((value) => value === null ? null : value / scaleOf(form))),
    // A value is that of the time before it.
    step: "start",
    symbol: "none",
    color: colour,
    lineStyle: { width: form === "stacked" ? 0.5 : 1.5, type: of?.dashed ? "dashed" : "solid" },
    ...(form === "stacked" && { stack: `chart ${index}`, areaStyle: { opacity: 0.75 } }),
  };
}

/** An interval that does not begin where the one before ended stands apart: nobody counted in between. */
function steps(intervals: Chart["intervals"], values: readonly (number | null)[]): (readonly [number, number | null])[] {
  return intervals.flatMap(([begin, end], i) => {
    const value = values[i] ?? null, before = intervals[i - 1];
    const follows = before !== undefined && begin - before[1] < (end - begin) / 10;
    return follows ? [[end, value] as const] : [[begin, null] as const, [begin, value] as const, [end, value] as const];
  });
}
