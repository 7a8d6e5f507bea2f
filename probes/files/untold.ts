import type { Decoder, Snapshot } from "../../lib/events/event.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import template from "./untold.bt" with { type: "text" };

/** What is asked of the kernel in ways that no file's reads tell of. */
export const untold: Probe = {
  name: "files/untold",
  summary: "requests by io_uring, io_submit and vmsplice: how many there were",
  template,
  records: {},
  maps: { untold: { key: ["pid", "kind"], unit: "requests" } },
  decoder: (tracks) => new UntoldDecoder(tracks),
};

/** By their numbers in the template. */
const CALLS = ["", "io_uring", "io_submit", "vmsplice"];

class UntoldDecoder implements Decoder {
  /** By stream, process and kind. */
  readonly #asked = new Map<string, { readonly pid: number; readonly call: string; readonly requests: number }>();

  constructor(readonly tracks: Tracks) {}

  event(): void {}

  snapshot({ stream, key, value }: Snapshot): void {
    const [pid, kind] = key as readonly [number, number];
    this.#asked.set(`${stream} ${pid} ${kind}`, { pid, call: CALLS[kind] ?? `call ${kind}`, requests: value });
  }

  end(at: Ns, out: SpanSink): void {
    for (const { pid, call, requests } of this.#asked.values()) {
      if (requests === 0) continue;
      out({ type: "instant", track: this.tracks.process(pid), name: call, category: "file.untold", at, args: { call, requests } });
    }
    this.#asked.clear();
  }
}
