import type { Slice } from "../events/span.ts";
import type { Tracks } from "../events/tracks.ts";
import type { ColdstartResult } from "./coldstart_schema.ts";

/** The waterfall as a row of the trace, above the root's threads, at the times at which things happened. */
export function coldstartLane({ root, steps }: ColdstartResult, tracks: Tracks): Slice[] {
  if (!root) return [];
  const track = tracks.lane(root.pid, "cold start", 0);
  return steps.map(({ name, kind, startNs, endNs, durationNs, note }) => ({
    type: "slice",
    track,
    name,
    category: "coldstart.phase",
    start: root.execNs + startNs,
    end: root.execNs + endNs,
    // Differs from the slice's own length where llmprof held the process still.
    args: { kind, durationNs, ...(note !== undefined && { note }) },
  }));
}
