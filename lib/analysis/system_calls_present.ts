import type { Table } from "../events/view.ts";
import type { SystemCallsResult } from "./system_calls_schema.ts";

/** Calls, and threads, beyond these take little time. */
const MAX_ROWS = 15, MAX_THREADS = 8;

/** By call, and by thread what each was in for the longest time. */
export function presentSystemCalls(result: SystemCallsResult): Table[] {
  const more = (all: number, shown: number) => all > shown ? ` (${all - shown} more take less)` : "";
  const { names, threads } = result;
  const tables: Table[] = [{
    type: "table",
    title: `System calls, with the time that they waited${more(names.length, MAX_ROWS)}`,
    columns: [
      { title: "call", unit: "text" },
      { title: "calls", unit: "count" },
      { title: "total", unit: "ns" },
      { title: "mean", unit: "ns" },
      { title: "threads", unit: "count" },
    ],
    rows: names.slice(0, MAX_ROWS).map(({ name, calls, totalNs, threads }) => [name, calls, totalNs, calls > 0 ? totalNs / calls : null, threads]),
  }];
  if (threads.length > 1) {
    tables.push({
      type: "table",
      title: `System calls by thread${more(threads.length, MAX_THREADS)}`,
      columns: [
        { title: "thread", unit: "text" },
        { title: "calls", unit: "count" },
        { title: "total", unit: "ns" },
        { title: "most of it in", unit: "text" },
      ],
      rows: threads.slice(0, MAX_THREADS).map(({ pid, tid, calls, totalNs, names }) => [
        tid === 0 ? "all others" : tid === pid ? `${tid} main` : String(tid),
        calls,
        totalNs,
        names.slice(0, 3).map(({ name, calls }) => `${name} ×${calls}`).join(", "),
      ]),
    });
  }
  return tables;
}
