import type { Facts, Table, View } from "../events/view.ts";
import { tableOf } from "./figures_table.ts";
import type { ReportResult } from "./report_schema.ts";

const MOST_ROWS = 12;

/** The result as a person reads it; its charts come behind. */
export function presentReport({ from, to, lines, missing, devices, processes, pressure }: ReportResult): View[] {
  const views: View[] = [];
  const iso = (seconds: number) => new Date(seconds * 1000).toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");
  if (from !== null && to !== null) {
    views.push(
      {
        type: "facts",
        title: "Snapshots",
        facts: [
          { name: "from", value: iso(from), unit: "text" },
          { name: "to", value: iso(to), unit: "text" },
          { name: "time", value: (to - from) * 1e9, unit: "ns" },
          ...(lines.io > 0 ? [{ name: "intervals of io", value: lines.io, unit: "count" } as const] : []),
          ...(lines.sched > 0 ? [{ name: "intervals of sched", value: lines.sched, unit: "count" } as const] : []),
        ],
      } satisfies Facts,
    );
  }
  if (lines.io > 0) views.push(deviceTable(devices));
  if (lines.sched > 0) views.push(processTable(processes), pressureTable(pressure));
  if (missing.pieces > 0) {
    const pieces = missing.pieces === 1 ? "one piece" : `${missing.pieces} pieces`;
    const text = `Of ${
      missing.seconds.toFixed(1)
    } s between, in ${pieces}, nothing was written: courses in the terminal go on behind as if they were not.`;
    views.push({ type: "note", level: "warning", text });
  }
  if (lines.unread > 0) {
    views.push({
      type: "note",
      level: "warning",
      text: `${lines.unread} ${lines.unread === 1 ? "line is" : "lines are"} no interval and in no figure.`,
    });
  }
  return views;
}

function deviceTable(devices: ReportResult["devices"]): Table {
  const busy = devices.filter(({ requests, mostInFlight }) => requests + mostInFlight > 0).slice(0, MOST_ROWS);
  return tableOf("Devices (times: at most, as they were counted by powers of two; in flight: as an interval ended)", busy, [
    [{ title: "device", unit: "text" }, (row) => row.device],
    [{ title: "requests", unit: "count" }, (row) => row.requests],
    [{ title: "p50", unit: "ns" }, (row) => row.p50Ns],
    [{ title: "p99", unit: "ns" }, (row) => row.p99Ns],
    [{ title: "most in flight", unit: "count" }, (row) => row.mostInFlight],
  ]);
}

function processTable(processes: ReportResult["processes"]): Table {
  return tableOf("Processes", processes.slice(0, MOST_ROWS), [
    [{ title: "process", unit: "text" }, (row) => row.name],
    [{ title: "id", unit: "text" }, (row) => row.pid],
    [{ title: "threads' time off a processor", unit: "ns" }, (row) => row.offCpuNs],
    [{ title: "page faults", unit: "count" }, (row) => row.pageFaults],
  ]);
}

function pressureTable(pressure: ReportResult["pressure"]): Table {
  return tableOf("Pressure: time in which somebody, or everybody, waited", Object.entries(pressure), [
    [{ title: "for", unit: "text" }, ([resource]) => resource],
    [{ title: "somebody", unit: "ratio" }, ([, { some }]) => some],
    [{ title: "everybody", unit: "ratio" }, ([, { full }]) => full],
  ]);
}
