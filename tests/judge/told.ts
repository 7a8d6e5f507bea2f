import { singly } from "../../lib/events/chain.ts";
import type { Slice, Span, Track } from "../../lib/events/span.ts";
import { boottime } from "../../lib/events/time.ts";
import { head } from "./corpus.ts";
import { query } from "./trace_processor.ts";

/**
 * What a trace tells of the corpus, in one form whoever read it, sorted: slices, instants and marks as
 * `start duration row category name arguments`, counters as `time row name value`. Readers share no code with the exporters.
 */
export function told(spans: readonly Span[]): string[] {
  const lines = spans.flatMap(singly).flatMap((span): string[] => {
    switch (span.type) {
      case "slice":
        return [event(boottime(head.clock, span.start), span.end - span.start, row(span.track), span.category, span.name, withOpen(span))];
      case "instant":
        return [event(boottime(head.clock, span.at), 0, row(span.track), span.category, span.name, span.args)];
      case "mark": {
        const args = { stream: span.stream, ...(span.count === undefined ? {} : { count: span.count }) };
        return [event(boottime(head.clock, span.at), 0, "llmprof", `llmprof.${span.kind}`, span.text, args)];
      }
      case "counter":
        return [`${boottime(head.clock, span.at)} ${span.track.pid || "machine"} ${span.track.name} = ${span.value}`];
      case "name":
        return [];
    }
  });
  return lines.sort();
}

/**
 * The same out of a file that trace_processor reads, protobuf or JSON. JSON has only threads: those above 10,000,000 go by their name; its
 * counters carry the series behind the name, and its times begin at `offset`.
 */
export async function toldBySql(path: string, offset?: bigint): Promise<string[]> {
  const since = offset ?? 0n;
  const args = new Map<unknown, Record<string, unknown>>();
  for (const arg of await query(path, "select arg_set_id, key, value_type, int_value, real_value, string_value from args order by key")) {
    const key = String(arg.key).match(/^(?:debug|args)\.(.*)$/)?.[1];
    if (key === undefined) continue;
    const type = arg.value_type;
    const value = type === "string"
      ? arg.string_value
      : type === "real"
      ? arg.real_value
      : type === "bool"
      ? arg.int_value !== 0n
      : Number(arg.int_value);
    args.set(arg.arg_set_id, { ...args.get(arg.arg_set_id), [key]: value });
  }
  const slices = await query(
    path,
    `select s.ts, s.dur, s.name, s.category, s.arg_set_id, t.name as track, thread.tid, thread.name as thread, coalesce(p.pid, q.pid) as pid from slice s
     join track t on t.id = s.track_id left join thread_track tt on tt.id = t.id left join thread using (utid) left join process p on p.upid = thread.upid
     left join process_track pt on pt.id = t.id left join process q on q.upid = pt.upid where s.category is not 'llmprof.run'`,
  );
  const counters = await query(
    path,
    `select c.ts, c.value, t.name, p.pid from counter c join track t on t.id = c.track_id
     left join process_counter_track pt on pt.id = t.id left join process p using (upid)`,
  );
  return [
    ...slices.map((s) => {
      const own = s.tid === null || Number(s.tid) >= 10_000_000;
      const name = String((s.tid === null ? s.track : s.thread) ?? "process").replace(/ \(row \d\)$/, "");
      const where = name === "llmprof" ? name : `${place(s.pid)} ${own ? name : s.tid}`;
      return event((s.ts as bigint) + since, s.dur as bigint, where, s.category, s.name, args.get(s.arg_set_id));
    }),
    ...counters.map((c) => {
      const name = offset === undefined ? c.name : String(c.name).replace(/ (faults|bytes|ratio)$/, "");
      return `${(c.ts as bigint) + since} ${place(c.pid)} ${name} = ${c.value}`;
    }),
  ].sort();
}

function withOpen(slice: Slice): Record<string, unknown> | undefined {
  return slice.open ? { ...slice.args, open: true } : slice.args;
}

export function place(pid: unknown): string {
  return pid === null || Number(pid) === 0 || Number(pid) > 10_000_000 ? "machine" : String(pid);
}

function row(track: Track): string {
  if (track.kind === "run") return "llmprof";
  return `${place(track.pid)} ${track.kind === "thread" ? track.tid : track.kind === "process" ? "process" : track.name}`;
}

export function event(start: bigint, duration: number | bigint, row: string, category: unknown, name: unknown, args: object | undefined): string {
  const sorted = Object.fromEntries(Object.entries(args ?? {}).sort(([a], [b]) => a < b ? -1 : 1));
  return `${start} +${duration} ${row} [${category}] ${name} ${JSON.stringify(sorted)}`;
}
