import type { Activity } from "./activity.ts";
import type { ColdstartKind } from "./coldstart_schema.ts";
import { bytesTogether, OF_MAPPINGS } from "./phase_kinds.ts";

/** How much, beside how long. What is zero is left out. */
export interface Figures {
  readonly count?: number;
  readonly bytes?: number;
  readonly faults?: number;
  readonly tokens?: number;
}

/** Of what a reader would call the same. */
export function figures(activities: readonly Activity[]): Figures {
  const sum = (of: (activity: Activity) => number) => activities.reduce((total, activity) => total + of(activity), 0);
  const [count, faults, tokens] = [sum((a) => a.count), sum((a) => a.faults), sum((a) => a.tokens)];
  const bytes = activities.reduce((all, { kind, files, bytes }) => files > 1 ? all + bytes : bytesTogether(kind, all, bytes), 0);
  return { ...(count > 0 && { count }), ...(bytes > 0 && { bytes }), ...(faults > 0 && { faults }), ...(tokens > 0 && { tokens }) };
}

/** What a count of slices means to a person. */
const COUNTED: Partial<Record<ColdstartKind, string>> = {
  read: "reads and opens",
  lock: "mlock calls",
  decode: "calls",
  sample: "calls",
};

/** All the bytes pass while it lasts. */
const RATED = new Set<ColdstartKind>(["read", "lock"]);

/** `97.0 MiB at 2140 MB/s, 98 reads and opens`, `61.0 MiB mapped, 5000 faults`; undefined when there is nothing to say. `ns`: the time in which that was done. */
export function noteOf(kind: ColdstartKind, { count = 0, bytes = 0, faults = 0, tokens = 0 }: Figures, ns: number): string | undefined {
  const parts: string[] = [];
  if (bytes > 0) {
    const rate = RATED.has(kind) && ns > 0 ? ` at ${speed((bytes * 1e3) / ns)}` : "";
    parts.push(`${mebibytes(bytes)}${OF_MAPPINGS.has(kind) ? " mapped" : rate}`);
  }
  if (faults > 0) parts.push(`${faults} faults`);
  if (tokens > 0) parts.push(tokens === 1 ? "1 token" : `${tokens} tokens`);
  const counted = COUNTED[kind];
  if (counted && count > 1) parts.push(`${count} ${counted}`);
  return parts.length > 0 ? parts.join(", ") : undefined;
}

export function mebibytes(bytes: number): string {
  const mebi = bytes / 1048576;
  return mebi < 0.1 ? `${Math.ceil(bytes / 1024)} KiB` : `${mebi.toFixed(1)} MiB`;
}

/** What a control group allows of processors: `0.5 of a processor's time`. */
export function processorTime(cpus: number | null): string {
  return cpus === null ? "less than there is" : `${Number(cpus.toFixed(2))} of a processor's time`;
}

/** Megabytes (10^6) per second, as disks are sold. */
function speed(megabytesPerSecond: number): string {
  return `${megabytesPerSecond < 10 ? megabytesPerSecond.toFixed(1) : Math.round(megabytesPerSecond)} MB/s`;
}
