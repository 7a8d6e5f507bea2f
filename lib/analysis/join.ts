import type { Activity } from "./activity.ts";
import { bytesTogether, moreTelling } from "./phase_kinds.ts";

/** A pause of a few milliseconds is the program doing something with what it got. */
const JOIN_GAP_NS = 5e6;
/** A reader may have to wait for the CPU, which on a busy machine takes several turns of others. */
const READ_GAP_NS = 20e6;
/** A fault is seen when it begins: the next one comes a read-ahead later, and a disk that is shared stalls for tens of milliseconds. */
const FAULT_GAP_NS = 100e6;

/** Goes on beside whatever a thread does, and separates nothing. */
const BACKGROUND = new Set(["memory", "memory map", "code fault"]);

/** What is between two activities in time, with the process' stops taken out. */
export type Gap = (from: Activity, to: Activity) => number;

/** Whether `next` continues `activity`: the same thing to the same file, a short pause at most, and nothing else of its thread within the pause. */
export function continues(activity: Activity, next: Activity, gap: Gap, thread: readonly Activity[]): boolean {
  if (activity.family !== next.family || activity.fileKey !== next.fileKey || activity.files > 1 || next.files > 1) return false;
  // Between faults in code that code runs, unless it waits for the disk, which each fault tells.
  const limit = next.family === "code fault" ? JOIN_GAP_NS : next.kind === "fault" ? FAULT_GAP_NS : next.kind === "read" ? READ_GAP_NS : JOIN_GAP_NS;
  // Either may be the earlier one: a stretch of faults is reported when the next one begins.
  const [first, second] = activity.start <= next.start ? [activity, next] : [next, activity];
  if (gap(first, second) > limit) return false;
  return !thread.some((other) => other !== activity && !BACKGROUND.has(other.family) && other.start >= first.end && other.end <= second.start);
}

/** Puts `next` into `activity`. */
export function join(activity: Activity, next: Activity): void {
  activity.kind = moreTelling(activity.kind, next.kind);
  activity.bytes = bytesTogether(activity.kind, activity.bytes, next.bytes);
  activity.start = Math.min(activity.start, next.start);
  activity.end = Math.max(activity.end, next.end);
  activity.busyNs += next.busyNs;
  activity.count += next.count;
  activity.faults += next.faults;
  activity.majorNs += next.majorNs;
  activity.tokens += next.tokens;
  activity.open ||= next.open;
}

/** Puts `next`, a short activity on another file, into a group of such. */
export function group(activity: Activity, next: Activity): void {
  const bytes = activity.bytes + next.bytes;
  const sameFile = activity.fileKey === next.fileKey && activity.files === 1 && next.files === 1;
  join(activity, next);
  if (sameFile) return;
  activity.bytes = bytes;
  activity.files += next.files;
  activity.file = undefined;
  activity.fileKey = "";
}
