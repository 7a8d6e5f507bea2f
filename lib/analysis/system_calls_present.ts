import type { Table } from "../events/view.ts";
import { tableOf } from "./figures_table.ts";
import { threadName } from "./thread_name.ts";
import type { SystemCallsResult } from "./system_calls_schema.ts";

/** Calls, and threads, beyond these take little time. */
const MAX_ROWS = 15, MAX_THREADS = 8;

/** By call, and by thread what each was in for the longest time. */
export function presentSystemCalls({ names, threads }: SystemCallsResult): Table[] {
  const byCall = tableOf("System calls, with the time that they waited", names, [
    [{ title: "call", unit: "text" }, (row) => row.name],
    [{ title: "calls", unit: "count" }, (row) => row.calls],
    [{ title: "total", unit: "ns" }, (row) => row.totalNs],
    [{ title: "mean", unit: "ns" }, (row) => row.calls > 0 ? row.totalNs / row.calls : null],
    [{ title: "threads", unit: "count" }, (row) => row.threads],
  ], MAX_ROWS);
  if (threads.length <= 1) return [byCall];
  const byThread = tableOf("System calls by thread", threads, [
    [{ title: "thread", unit: "text" }, (row) => row.tid === 0 ? "all others" : threadName(row)],
    [{ title: "calls", unit: "count" }, (row) => row.calls],
    [{ title: "total", unit: "ns" }, (row) => row.totalNs],
    [{ title: "most of it in", unit: "text" }, (row) => row.names.slice(0, 3).map(({ name, calls }) => `${name} ×${calls}`).join(", ")],
  ], MAX_THREADS);
  return [byCall, byThread];
}
