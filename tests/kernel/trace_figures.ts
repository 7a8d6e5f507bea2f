import { errors, query, type Row } from "../judge/trace_processor.ts";

/** What Perfetto's own reader finds in a trace. */
export interface TraceFigures {
  /** Rows of `stats` that say that something was not understood or dropped. */
  readonly errors: readonly string[];
  readonly decodes: number;
  /** Slices on rows called `worker N`. */
  readonly ops: number;
  readonly workers: number;
  /** How long the target stood at each gate, in nanoseconds, in order. */
  readonly stops: readonly number[];
  /** Marks for lost events: when (CLOCK_BOOTTIME) and how many. */
  readonly lost: readonly { readonly at: bigint; readonly count: number }[];
}

const figuresOf = `
select
  (select count(*) from slice where category = 'llama.decode' and name = 'llama_decode') as decodes,
  (select count(*) from slice s join track t on t.id = s.track_id where s.category = 'ggml.op' and t.name glob 'worker [0-9]*') as ops,
  (select count(distinct t.name) from slice s join track t on t.id = s.track_id where s.category = 'ggml.op') as workers`;

const lostMarks = `
select ts, (select int_value from args a where a.arg_set_id = s.arg_set_id and key = 'debug.count') as count
from slice s where category = 'llmprof.lost' order by ts`;

export async function traceFigures(path: string): Promise<TraceFigures> {
  const [figures] = await query(path, figuresOf);
  const lost = await query(path, lostMarks);
  const { decodes, ops, workers } = numbers(figures!);
  return {
    errors: (await errors(path)).map(({ name, value }) => `${name}: ${value}`),
    decodes: decodes!,
    ops: ops!,
    workers: workers!,
    stops: (await slicesOf(path, "llmprof.stopped")).map(({ start, end }) => Number(end - start)),
    lost: lost.map(({ ts, count }) => ({ at: ts as bigint, count: Number(count) })),
  };
}

/** Nanoseconds that the target stood still in all. */
export function stoppedNs({ stops }: TraceFigures): number {
  return stops.reduce((sum, stop) => sum + stop, 0);
}

/** A slice as the trace has it; times are CLOCK_BOOTTIME. */
export interface TraceSlice {
  readonly start: bigint;
  readonly end: bigint;
  readonly name: string;
  readonly track: string;
}

/** Slices of a category in order of their beginning. */
export async function slicesOf(path: string, category: string): Promise<TraceSlice[]> {
  if (!/^[\w.]+$/.test(category)) throw new Error(`No category: ${category}`);
  const rows = await query(
    path,
    `select s.ts, s.dur, s.name, coalesce(t.name, '') as track from slice s join track t on t.id = s.track_id where s.category = '${category}' order by s.ts`,
  );
  return rows.map(({ ts, dur, name, track }) => ({
    start: ts as bigint,
    end: (ts as bigint) + (dur as bigint),
    name: String(name),
    track: String(track),
  }));
}

/** What follows one another within a second: a target that is watched in turns computes all the time, and is seen in them alone. */
export function inTurns(slices: readonly TraceSlice[]): TraceSlice[][] {
  const rests = slices.flatMap(({ start }, i) => i > 0 && start - slices[i - 1]!.end > 1_000_000_000n ? [i] : []);
  return [0, ...rests].map((from, i) => slices.slice(from, rests[i]));
}

/** Nanoseconds of [from, to) that the slices cover; they do not overlap. */
export function within(slices: readonly TraceSlice[], from: bigint, to: bigint): number {
  return slices.reduce((sum, { start, end }) => {
    const covered = Number((end < to ? end : to) - (start > from ? start : from));
    return covered > 0 ? sum + covered : sum;
  }, 0);
}

function numbers(found: Row): Record<string, number> {
  return Object.fromEntries(Object.entries(found).map(([name, value]) => [name, Number(value)]));
}
