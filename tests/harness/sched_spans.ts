import { analyse, MS, TestSpans } from "./spans.ts";
import { sched } from "../../lib/analysis/sched.ts";
import { schedResultSchema } from "../../lib/analysis/sched_schema.ts";
import type { OffCpu, Span } from "../../lib/events/span.ts";

export const main = new TestSpans(100), worker = main.of(100, 101);
export const hog = { tid: 300, name: "hog", traces: false }, waker = { pid: 100, tid: 100, name: "main" };

export function off(t: TestSpans, reason: string, start: number, end: number, more: Partial<OffCpu> = {}, open = false): Span {
  return {
    ...t.slice("sched.off", start, end, undefined, open),
    off: { reason, queuedNs: 0, waker: null, taker: null, from: 0, cpu: 0, migrated: false, ...more },
  };
}

export const shut = (at: number, open: boolean, stream = "process"): Span => ({ ...main.mark("window"), stream, at: at * MS, open });
export const preempted = (t: TestSpans, start: number, end: number, more: Partial<OffCpu> = {}) =>
  off(t, "preempted", start, end, { queuedNs: (end - start) * MS, taker: hog, ...more });

export const run = (times: number, start: number, end: number, ns: number, more: Partial<OffCpu> = {}): Span => {
  const slice = main.slice("sched.offs", start, end);
  const off = { reason: "pipe", queuedNs: 0, waker, taker: null, from: 1, cpu: 1, migrated: false, ...more };
  return { ...slice, track: { ...slice.track, id: 77, kind: "lane" }, off: { ...off, run: { thread: slice.track, times, ns } } };
};

export function result(spans: readonly Span[], cpus = 2) {
  const found = analyse(sched(cpus), spans);
  return schedResultSchema.parse(found);
}
