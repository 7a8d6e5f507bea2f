import type { Ns } from "../events/time.ts";
import type { Activity } from "./activity.ts";
import type { Intervals } from "./intervals.ts";
import { phaseName, rank } from "./phase_kinds.ts";

/** A piece of the time axis. */
export interface Segment {
  start: Ns;
  end: Ns;
  /** Net of stops. */
  ns: number;
  /** Of `ns`: short gaps that were put to it. */
  gapsNs: number;
  /** What explains it: the same by name, such as pieces of one file read by several threads. None: nothing does. */
  readonly activities: Activity[];
}

/** A gap as long as this is a step of its own. */
export const MIN_GAP_NS = 2e6;

/**
 * Cuts [start, end) so that each instant belongs to exactly one segment: to the most specific activity of that instant, and of equals to the
 * one that began last. The segments' `ns` sum to the range less the stops in it, exactly.
 */
export function waterfall(activities: readonly Activity[], start: Ns, end: Ns, stops: Intervals): Segment[] {
  const raw = exclusive(activities, start, end, stops);
  const merged: Segment[] = [];
  let gap: Segment | undefined;
  for (const segment of raw) {
    const before = merged.at(-1);
    if (segment.activities.length === 0 && segment.ns < MIN_GAP_NS) {
      // A short gap goes to what was before it; the very first to what follows.
      if (before) absorb(before, segment);
      else gap = segment;
    } else if (before && same(before.activities[0], segment.activities[0])) {
      before.end = segment.end;
      before.ns += segment.ns;
      for (const activity of segment.activities) if (!before.activities.includes(activity)) before.activities.push(activity);
    } else {
      if (gap) {
        absorb(segment, gap);
        gap = undefined;
      }
      merged.push(segment);
    }
  }
  // Nothing but one short gap.
  return gap ? [gap] : merged;
}

function absorb(into: Segment, gap: Segment): void {
  into.start = Math.min(into.start, gap.start);
  into.end = Math.max(into.end, gap.end);
  into.ns += gap.ns;
  if (into.activities.length > 0) into.gapsNs += gap.ns;
}

/** One row of the waterfall: what a reader would call the same. */
function same(a: Activity | undefined, b: Activity | undefined): boolean {
  if (a === b) return true;
  return a !== undefined && b !== undefined && a.fileKey === b.fileKey && phaseName(a) === phaseName(b);
}

function exclusive(activities: readonly Activity[], start: Ns, end: Ns, stops: Intervals): Segment[] {
  const explaining = activities.filter((a) => a.end > a.start && a.end > start && a.start < end && rank(a) > 0).sort((a, b) => a.start - b.start);
  const cuts = new Set([start, end]);
  for (const { start: from, end: to } of explaining) {
    if (from > start) cuts.add(from);
    if (to < end) cuts.add(to);
  }
  const times = [...cuts].sort((a, b) => a - b);
  const segments: Segment[] = [];
  let active: Activity[] = [];
  let next = 0;
  for (let i = 0; i + 1 < times.length; i++) {
    const [from, to] = [times[i]!, times[i + 1]!];
    active = active.filter((activity) => activity.end > from);
    while (next < explaining.length && explaining[next]!.start <= from) active.push(explaining[next++]!);
    const activity = active.reduce<Activity | undefined>((best, a) => (!best || rank(a) >= rank(best) ? a : best), undefined);
    const ns = to - from - stops.overlap(from, to);
    const before = segments.at(-1);
    if (before && before.activities[0] === activity) {
      before.end = to;
      before.ns += ns;
    } else if (ns > 0) segments.push({ start: from, end: to, ns, gapsNs: 0, activities: activity ? [activity] : [] });
  }
  return segments;
}
