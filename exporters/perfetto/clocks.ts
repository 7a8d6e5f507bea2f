import type { Clock } from "../../lib/events/time.ts";
import { BuiltinClock, ClockSnapshot, SequenceFlags, SnapshotClock, Trace, TracePacket } from "./fields.ts";
import type { ProtoWriter } from "./writer.ts";

/** The first packet of a sequence: which clock its times are of, and what real time it was then. */
export function writeClocks(out: ProtoWriter, sequence: number, { base, realtimeOffset }: Clock): void {
  const packet = out.begin(Trace.packet);
  out.uint(TracePacket.sequenceId, sequence);
  out.uint(TracePacket.sequenceFlags, SequenceFlags.incrementalStateCleared);
  const snapshot = out.begin(TracePacket.clockSnapshot);
  for (const [id, time] of [[BuiltinClock.boottime, base], [BuiltinClock.realtime, base + realtimeOffset]] as const) {
    const clock = out.begin(ClockSnapshot.clocks);
    out.uint(SnapshotClock.id, id);
    out.wide(SnapshotClock.timestamp, Number(time >> 28n), Number(time & 0xfffffffn));
    out.end(clock);
  }
  out.uint(ClockSnapshot.primaryTraceClock, BuiltinClock.boottime);
  out.end(snapshot);
  out.end(packet);
}
