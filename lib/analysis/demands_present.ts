import type { Column, Note, View } from "../events/view.ts";
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
  return [
    {
      type: "table",
      title: ceilings
        ? "What operators ask of the machine, and what of their time moving and computing it takes at least"
        : "What operators ask of the machine",
      columns: [...always, ...(ceilings ? bound : alone)],
      rows: rows.map(([operator, phase, part]) => [operator, phase, ...rates(part), ...(ceilings ? boundCells(part) : [intensity(part)])]),
    },
    ...(masked.length > 0 ? [maskedNote(masked)] : []),
    ...(ceilings ? [] : [howToCompare]),
  ];
}

const always: readonly Column[] = [
  { title: "operator", unit: "text" },
  { title: "in", unit: "text" },
  { title: "total", unit: "ns" },
  { title: "moved", unit: "bytes-per-second" },
  { title: "computed", unit: "flops-per-second" },
];
const bound: readonly Column[] = [
  { title: "moving", unit: "ratio" },
  { title: "computing", unit: "ratio" },
  { title: "bound by", unit: "text" },
];
/** Without ceilings the reader compares. */
const alone: readonly Column[] = [{ title: "FLOP/byte", unit: "count" }];

function rates({ totalNs, bytes, flops }: PartResult): (number | null)[] {
  const rate = (sum: number | null) => sum === null || totalNs === 0 ? null : sum / totalNs * 1e9;
  return [totalNs, rate(bytes), rate(flops)];
}

function boundCells({ bound }: PartResult): (number | string | null)[] {
  return [bound?.moving ?? null, bound?.computing ?? null, bound?.by ?? null];
}

function intensity({ bytes, flops }: PartResult): number | null {
  return bytes && flops !== null ? Math.round(flops / bytes * 10) / 10 : null;
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
