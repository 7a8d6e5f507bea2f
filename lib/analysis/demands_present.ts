import type { Note, View } from "../events/view.ts";
import { type Figure, tableOf } from "./figures_table.ts";
import { type Phase, PHASES } from "./operator_sums.ts";
import type { OperatorsResult, PartResult } from "./operators_schema.ts";
import { info } from "./quality.ts";

/** Below this share of the time in graphs it does not matter how an operator uses the machine. */
const SMALL_SHARE = 0.005;

type Row = readonly [operator: string, phase: Phase, part: PartResult];

/** A table of operators by the kind of call, most time first: the same operator reads matrices for one token and multiplies them for many. */
export function presentDemands({ operators, time, ceilings }: OperatorsResult): View[] {
  const parts = operators.flatMap((row) => PHASES.map((phase): Row => [row.name, phase, row[phase]]));
  const rows = parts.filter(([, , { bytes, flops, totalNs }]) => (bytes ?? flops) !== null && totalNs >= SMALL_SHARE * Number(time.graphNs))
    .sort(([, , a], [, , b]) => b.totalNs - a.totalNs);
  if (rows.length === 0) return [];
  const masked = rows.filter(([, , { atMost }]) => atMost).map(([operator]) => operator);
  const title = ceilings
    ? "What operators ask of the machine, and what of their time moving and computing it takes at least"
    : "What operators ask of the machine";
  return [
    tableOf(title, rows, [...always, ...(ceilings ? bound : alone)]),
    ...(masked.length > 0 ? [maskedNote(masked)] : []),
    ...(ceilings ? [] : [howToCompare]),
  ];
}

const always: readonly Figure<Row>[] = [
  [{ title: "operator", unit: "text" }, ([operator]) => operator],
  [{ title: "in", unit: "text" }, ([, phase]) => phase],
  [{ title: "total", unit: "ns" }, ([, , { totalNs }]) => totalNs],
  [{ title: "moved", unit: "bytes-per-second" }, ([, , { bytes, totalNs }]) => rate(bytes, totalNs)],
  [{ title: "computed", unit: "flops-per-second" }, ([, , { flops, totalNs }]) => rate(flops, totalNs)],
];
const bound: readonly Figure<Row>[] = [
  [{ title: "moving", unit: "ratio" }, ([, , { bound }]) => bound?.moving ?? null],
  [{ title: "computing", unit: "ratio" }, ([, , { bound }]) => bound?.computing ?? null],
  [{ title: "bound by", unit: "text" }, ([, , { bound }]) => bound?.by ?? null],
];
/** Without ceilings the reader compares. */
const alone: readonly Figure<Row>[] = [
  [{ title: "FLOP/byte", unit: "count" }, ([, , { bytes, flops }]) => bytes && flops !== null ? Math.round(flops / bytes * 10) / 10 : null],
];

/** Of a sum, for each second. */
function rate(sum: number | null, ns: number): number | null {
  return sum === null || ns === 0 ? null : sum / ns * 1e9;
}

function maskedNote(operators: readonly string[]): Note {
  const names = [...new Set(operators)].join(", ");
  return info(`${names}: a mask spares some of it, so its rates are the most that they can be, and what binds it is not told.`);
}

const howToCompare: Note = {
  type: "note",
  level: "info",
  text: "What binds each operator is told where it is known what this machine can do at most. While it is idle:",
  command: "sudo llmprof doctor --calibrate",
};
