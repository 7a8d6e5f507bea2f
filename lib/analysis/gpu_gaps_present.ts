import { counted } from "../events/text.ts";
import type { Facts, Note, Table } from "../events/view.ts";
import { tableOf } from "./figures_table.ts";
import type { GpuResult } from "./gpu_schema.ts";
import { info } from "./quality.ts";

type Gaps = GpuResult["gaps"];

/** Of the time in which a process uses GPUs, and in which all do: less is not worth telling. */
const NOTICEABLE = 0.05, NOTICEABLE_OF_ALL = 0.01;
const MAX_PROCESSES = 16;

/** Whose GPUs wait for the CPU, and what to try; and what hides that they do. */
export function gapsNotes(gaps: Gaps): Note[] {
  return [...lateNotes(gaps), ...abandonedNotes(gaps)];
}

function abandonedNotes({ abandoned }: Gaps): Note[] {
  if (abandoned === 0) return [];
  const which = abandoned === 1 ? "A stream was destroyed" : `${abandoned} streams were destroyed`;
  return [info(
    `${which} with work that nobody had waited for: when that ended is not known. Until all of the context was waited for it counts as going on, and no gap is told.`,
  )];
}

function lateNotes({ processes }: Gaps): Note[] {
  const late = processes.filter(({ ns, usedNs }) => ns > NOTICEABLE * usedNs), [first] = late;
  const sum = (of: "count" | "ns" | "usedNs") => late.reduce((all, process) => all + process[of], 0);
  if (!first || sum("ns") < NOTICEABLE_OF_ALL * processes.reduce((all, { usedNs }) => all + usedNs, 0)) return [];
  const who = late.length > 1 ? `${late.length} of ${processes.length} processes` : processes.length > 1 ? `process ${first.pid}` : "the target";
  const share = (100 * sum("ns") / sum("usedNs")).toFixed(0);
  return [info(
    `For ${share} % of the time in which ${who} used GPUs, these had been given nothing to do, ${counted(sum("count"), "time")}: ` +
      "CUDA graphs, larger batches, or fewer waits (synchronize) close such gaps.",
  )];
}

export function gapsFacts({ count, ns, processes }: Gaps): Facts["facts"] {
  const sum = (of: "pauses" | "pausesNs") => processes.reduce((all, process) => all + process[of], 0), pauses = sum("pauses");
  const added = (of: "count" | "pauses") => {
    const many = processes.filter((process) => process[of] > 0).length;
    return many > 1 ? [`${many} processes added`] : [];
  };
  const often = [counted(pauses, "time"), "for half a second or longer", ...added("pauses")].join(", ");
  return [
    { name: "nothing to do", value: ns, unit: "ns", note: count > 0 ? [counted(count, "gap"), ...added("count")].join(", ") : "" },
    ...pauses > 0 ? [{ name: "left alone", value: sum("pausesNs"), unit: "ns" as const, note: often }] : [],
  ];
}

/** Where there are several. */
export function gapsByProcess({ processes }: Gaps): Table[] {
  const rows = processes.filter(({ count, pauses }) => count + pauses > 0);
  if (rows.length < 2) return [];
  return [tableOf("GPUs with nothing to do, by process", rows, [
    [{ title: "process", unit: "text" }, (row) => String(row.pid)],
    [{ title: "gaps", unit: "count" }, (row) => row.count],
    [{ title: "in all", unit: "ns" }, (row) => row.ns],
    [{ title: "of its use", unit: "ratio" }, ({ ns, usedNs }) => usedNs > 0 ? ns / usedNs : null],
    [{ title: "longest", unit: "ns" }, (row) => row.longestNs],
    [{ title: "left alone", unit: "ns" }, (row) => row.pausesNs],
  ], MAX_PROCESSES)];
}
