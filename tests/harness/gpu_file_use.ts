import type { GpuFileUse } from "../../lib/events/gpu.ts";
import type { Slice } from "../../lib/events/span.ts";
import type { Tracks } from "../../lib/events/tracks.ts";

/** A process asks something of a GPU's device file, from `start` to `end` in nanoseconds: process 7 is the target, others are not. */
export function usesGpuFile(tracks: Tracks, pid: number, start: number, end: number, more: Partial<GpuFileUse> = {}): Slice {
  const who = { pid, name: pid === 7 ? "target" : "other", isTarget: pid === 7 };
  const file = { device: "nvidia0", ...who, what: "ioctl", errno: 0, command: "F 0x2a", ...more } as const;
  return { type: "slice", track: tracks.thread(pid, pid), name: `${file.what} ${file.device}`, category: "gpu.file", start, end, file };
}
