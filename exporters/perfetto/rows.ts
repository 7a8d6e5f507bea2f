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
 * A lane has sequences of packets of its own, whose clocks count from packet to packet: its slices, of which there may be millions, have to say neither
 * their track nor the whole time.
 */
export interface Row {
  readonly sequence: number;
  readonly interning: Interning;
  /** Time of the last packet by that clock. */
  last: Ns;
  /** The packet that ends a slice, before its time. */
  end?: Uint8Array;
  /** Slices that are told here again and again. */
  members: number;
}

/** Operators of a graph: what is told of them again stands 2 KiB behind it, where deflate can say so in few bits, and within its reach for any graph. */
const MOST_MEMBERS = 24;

/**
 * The sequences of a lane. What is told again and again, in the same order, is dealt to them in pieces, so that each has the same piece of graph after
 * graph: a compressed block has the packets of a sequence together. Packets of one time are read in the order of the file, which is another one then:
 * they have to be in one sequence.
 */
export class Lane {
  #newest: Row;
  /** The one that has the last packet. */
  row: Row;
  /** Time of the last packet. */
  last: Ns;

  constructor(readonly begin: (at: Ns) => Row, at: Ns) {
    this.row = this.#newest = begin(at);
    this.last = at;
  }

  /** The place of a slice that is told for the second time: where the one before it is, unless that has enough of them. */
  place(at: Ns): Row {
    const { row } = this;
    const most = row === this.#newest ? MOST_MEMBERS : 4 * MOST_MEMBERS;
    return row.members < most ? row : this.#newest = this.begin(at);
  }
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
  return { sequence, interning: new Interning(out, freezing), last: at, members: 0 };
}
