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
    // Of the socket that the thread's next line is about.
    bound: [{ name: "family", type: "int" }, { name: "port", type: "int" }],
  },
  decoder: (tracks) => new ListenDecoder(tracks),
};

const AF_INET = 2, AF_INET6 = 10;

class ListenDecoder implements Decoder {
  /** By thread, until its socket listens: where that is one of a network. */
  readonly #ports = new Map<number, number>();

  constructor(readonly tracks: Tracks) {}

  event(event: Event, out: SpanSink): void {
    const track = this.tracks.thread(event.pid, event.tid);
    switch (event.record) {
      case "sockets/listen.bound": {
        const [family, port] = event.values as [number, number];
        // The line of the one before may be lost.
        this.#ports.delete(event.tid);
        if (family === AF_INET || family === AF_INET6) this.#ports.set(event.tid, port);
        return;
      }
      case "sockets/listen.accept":
        return out({ type: "instant", track, name: "accept", category: "socket.accept", at: event.at, args: { fd: event.values[0] as number } });
      case "sockets/listen.listen": {
        const [start, fd, ret] = event.values as [Ns, number, number];
        const port = ret === 0 ? this.#ports.get(event.tid) : undefined;
        this.#ports.delete(event.tid);
        const args = { fd, errno: -ret, ...port !== undefined && { port } };
        return out({ type: "slice", track, name: "listen", category: "socket.listen", start, end: event.at, args });
      }
    }
  }

  end(): void {}
}
