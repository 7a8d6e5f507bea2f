import type { Activity } from "./activity.ts";
import type { ColdstartKind } from "./coldstart_schema.ts";

/** How much, beside how long. What is zero is left out. */
export interface Figures {
  readonly count?: number;
  readonly bytes?: number;
  readonly faults?: number;
  readonly tokens?: number;
}

export function figures(activities: readonly Activity[]): Figures {
  const sum = (of: (activity: Activity) => number) => activities.reduce((total, activity) => total + of(activity), 0);
  const [count, bytes, faults, tokens] = [sum((a) => a.count), sum((a) => a.bytes), sum((a) => a.faults), sum((a) => a.tokens)];
  return { ...(count > 0 && { count }), ...(bytes > 0 && { bytes }), ...(faults > 0 && { faults }), ...(tokens > 0 && { tokens }) };
}

/** What a count of slices means to a person. */
const COUNTED: Partial<Record<ColdstartKind, string>> = {
  read: "reads and opens",
  lock: "mlock calls",
  decode: "calls",
  sample: "calls",
};

/** `97.0 MiB at 2140 MB/s, 98 reads and opens`; undefined when there is nothing to say. `ns`: the time in which that was done. */
export function noteOf(kind: ColdstartKind, { count = 0, bytes = 0, faults = 0, tokens = 0 }: Figures, ns: number): string | undefined {
  const parts: string[] = [];
  if (bytes > 0) {
    const rate = ns > 0 && kind !== "library" ? ` at ${speed((bytes * 1e3) / ns)}` : "";
    parts.push(`${mebibytes(bytes)}${rate}`);
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
