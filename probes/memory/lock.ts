import type { Decoder, Event } from "../../lib/events/event.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import template from "./lock.bt" with { type: "text" };

/** Memory that the target asks the kernel to keep resident. */
export const lock: Probe = {
  name: "memory/lock",
  summary: "mlock: bytes, duration, refusals",
  template,
  tracepoints: ["syscalls:sys_exit_mlock"],
  records: {
    lock: [
      { name: "began", type: "time" },
      { name: "length", type: "int", unit: "bytes" },
      { name: "ret", type: "int", unit: "negative errno" },
    ],
  },
  decoder: (tracks) => new LockDecoder(tracks),
};

class LockDecoder implements Decoder {
  constructor(readonly tracks: Tracks) {}

  event(event: Event, out: SpanSink): void {
    const [start, bytes, ret] = event.values as [Ns, number, number];
    const track = this.tracks.thread(event.pid, event.tid);
    out({ type: "slice", track, name: "mlock", category: "memory.lock", start, end: event.at, args: { bytes, errno: -ret } });
  }

  end(): void {}
}
