import type { Table } from "../events/view.ts";
import { firstRows } from "./first_rows.ts";
import { threadName } from "./thread_name.ts";
import type { SystemCallsResult } from "./system_calls_schema.ts";

/** Calls, and threads, beyond these take little time. */
const MAX_ROWS = 15, MAX_THREADS = 8;

/** By call, and by thread what each was in for the longest time. */
export function presentSystemCalls(result: SystemCallsResult): Table[] {
  const names = firstRows("System calls, with the time that they waited", result.names, MAX_ROWS);
  const threads = firstRows("System calls by thread", result.threads, MAX_THREADS);
  const tables: Table[] = [{
    type: "table",
    title: names.title,
    columns: [
      { title: "call", unit: "text" },
      { title: "calls", unit: "count" },
      { title: "total", unit: "ns" },
      { title: "mean", unit: "ns" },
      { title: "threads", unit: "count" },
    ],
    rows: names.shown.map(({ name, calls, totalNs, threads }) => [name, calls, totalNs, calls > 0 ? totalNs / calls : null, threads]),
  }];
  if (result.threads.length > 1) {
    tables.push({
      type: "table",
      title: threads.title,
      columns: [
        { title: "thread", unit: "text" },
        { title: "calls", unit: "count" },
        { title: "total", unit: "ns" },
        { title: "most of it in", unit: "text" },
      ],
      rows: threads.shown.map(({ names, ...thread }) => [
        thread.tid === 0 ? "all others" : threadName(thread),
        thread.calls,
        thread.totalNs,
        names.slice(0, 3).map(({ name, calls }) => `${name} ×${calls}`).join(", "),
      ]),
    });
  }
  return tables;
}
