import type { Decoder, Event } from "../../lib/events/event.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import template from "./listen.bt" with { type: "text" };

/** Sockets that begin to listen, and connections that they accept. */
export const listen: Probe = {
  name: "sockets/listen",
  summary: "sockets that begin to listen, and connections to them",
  template,
  tracepoints: ["syscalls:sys_exit_listen"],
  records: {
    listen: [{ name: "began", type: "time" }, { name: "fd", type: "int" }, { name: "ret", type: "int", unit: "negative errno" }],
    accept: [{ name: "fd", type: "int" }],
  },
  decoder: (tracks) => new ListenDecoder(tracks),
};

class ListenDecoder implements Decoder {
  constructor(readonly tracks: Tracks) {}

  event(event: Event, out: SpanSink): void {
    const track = this.tracks.thread(event.pid, event.tid);
    if (event.record === "sockets/listen.accept") {
      return out({ type: "instant", track, name: "accept", category: "socket.accept", at: event.at, args: { fd: event.values[0] as number } });
    }
    const [start, fd, ret] = event.values as [Ns, number, number];
    out({ type: "slice", track, name: "listen", category: "socket.listen", start, end: event.at, args: { fd, errno: -ret } });
  }

  end(): void {}
}
