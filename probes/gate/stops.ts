import type { Decoder, Event, Field } from "../../lib/events/event.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import { OpenSlices } from "../../lib/timeline/open_slices.ts";

/** What both gates send when a process is continued, and who did so. */
export const released: readonly Field[] = [{ name: "pid", type: "int", unit: "subject" }, { name: "sender", type: "int" }];

/** Draws the time at which a process stood still on our account, from the gate's signal to SIGCONT. */
export class StopsDecoder implements Decoder {
  readonly #open = new OpenSlices();

  constructor(readonly tracks: Tracks, readonly why: (event: Event) => string) {}

  event(event: Event, out: SpanSink): void {
    if (event.record.endsWith(".stopped")) {
      const name = this.why(event);
      const track = this.tracks.lane(event.pid, "stopped by llmprof", 1);
      return this.#open.begin(String(event.pid), { track, name, category: "llmprof.stopped", start: event.at, args: undefined }, out);
    }
    this.#open.end(String(event.pid), event.at, out);
  }

  end(at: Ns, out: SpanSink): void {
    this.#open.closeAll(at, out);
  }
}
