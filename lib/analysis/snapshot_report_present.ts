import type { Facts, Table, View } from "../events/view.ts";
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
  return {
    type: "table",
    title: "Devices (times: at most, as they were counted by powers of two; in flight: as an interval ended)",
    columns: [
      { title: "device", unit: "text" },
      { title: "requests", unit: "count" },
      { title: "p50", unit: "ns" },
      { title: "p99", unit: "ns" },
      { title: "most in flight", unit: "count" },
    ],
    rows: devices.filter(({ requests, mostInFlight }) => requests + mostInFlight > 0).slice(0, MOST_ROWS)
      .map(({ device, requests, p50Ns, p99Ns, mostInFlight }) => [device, requests, p50Ns, p99Ns, mostInFlight]),
  };
}

function processTable(processes: ReportResult["processes"]): Table {
  return {
    type: "table",
    title: "Processes",
    columns: [{ title: "process", unit: "text" }, { title: "threads' time off a processor", unit: "ns" }, { title: "page faults", unit: "count" }],
    rows: processes.slice(0, MOST_ROWS).map(({ pid, offCpuNs, pageFaults }) => [pid, offCpuNs, pageFaults]),
  };
}

function pressureTable(pressure: ReportResult["pressure"]): Table {
  return {
    type: "table",
    title: "Pressure: time in which somebody, or everybody, waited",
    columns: [{ title: "for", unit: "text" }, { title: "somebody", unit: "ratio" }, { title: "everybody", unit: "ratio" }],
    rows: Object.entries(pressure).map(([resource, { some, full }]) => [resource, some, full]),
  };
}
