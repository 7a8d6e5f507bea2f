import type { Ns } from "../../lib/events/time.ts";
import {
  BuiltinClock,
  ClockSnapshot,
  OWN_CLOCK,
  SequenceFlags,
  SnapshotClock,
  Trace,
  TracePacket,
  TracePacketDefaults,
  TrackEventDefaults,
} from "./fields.ts";
import { type Freezing, Interning } from "./interning.ts";
import type { ProtoWriter } from "./writer.ts";

/**
 * A lane has a sequence of packets of its own, whose clock counts from packet to packet: its slices, of which there may be millions, have to say neither
 * their track nor the whole time.
 */
export interface Row {
  readonly sequence: number;
  readonly interning: Interning;
  /** Time of the last packet by that clock. */
  last: Ns;
}

/** Begins the sequence: its clock stands at `at`. `writeTime` writes that as a field, on the trace's own clock. */
export function beginRow(
  out: ProtoWriter,
  freezing: Freezing,
  { sequence, uuid, at }: { readonly sequence: number; readonly uuid: number; readonly at: Ns },
  writeTime: (field: number, at: Ns) => void,
): Row {
  const packet = out.begin(Trace.packet);
  out.uint(TracePacket.sequenceId, sequence);
  out.uint(TracePacket.sequenceFlags, SequenceFlags.incrementalStateCleared);
  const snapshot = out.begin(TracePacket.clockSnapshot);
  for (const id of [BuiltinClock.boottime, OWN_CLOCK]) {
    const clock = out.begin(ClockSnapshot.clocks);
    out.uint(SnapshotClock.id, id);
    writeTime(SnapshotClock.timestamp, at);
    if (id === OWN_CLOCK) out.uint(SnapshotClock.isIncremental, 1);
    out.end(clock);
  }
  out.end(snapshot);
  const defaults = out.begin(TracePacket.defaults);
  out.uint(TracePacketDefaults.timestampClock, OWN_CLOCK);
  const events = out.begin(TracePacketDefaults.trackEvent);
  out.uint(TrackEventDefaults.trackUuid, uuid);
  out.end(events);
  out.end(defaults);
  out.end(packet);
  return { sequence, interning: new Interning(out, freezing), last: at };
}
