import type { Decoder, Snapshot } from "../../lib/events/event.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Event } from "../../lib/events/event.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { FileNames } from "../files/names.ts";
import template from "./cache.bt" with { type: "text" };

/** How much of each file had to be brought into the page cache. */
export const cache: Probe = {
  name: "memory/cache",
  summary: "bytes that entered the page cache, by file",
  template,
  params: { page: { type: "int", value: 4096 } },
  tracepoints: ["filemap:mm_filemap_add_to_page_cache"],
  records: {},
  maps: { cached: "bytes" },
  sees: ["files/access.open", "files/access.map"],
  decoder: (tracks) => new CacheDecoder(tracks),
};

class CacheDecoder implements Decoder {
  readonly #names = new FileNames();
  #pid = 0;

  constructor(readonly tracks: Tracks) {}

  event(event: Event): void {
    // Files belong to the tree as a whole; the counters are drawn beside its first process.
    this.#pid ||= event.pid;
    const [dev, inode] = (event.record === "files/access.open" ? event.values.slice(2, 4) : event.values.slice(4, 6)) as [number, number];
    this.#names.learn(dev, inode, event.values.at(-1) as string);
  }

  snapshot(snapshot: Snapshot, out: SpanSink): void {
    const [dev, inode] = snapshot.key as [number, number];
    const track = this.tracks.counter(this.#pid, `page cache filled: ${this.#names.of(dev, inode)}`, "bytes");
    out({ type: "counter", track, at: snapshot.at, value: snapshot.value });
  }

  end(_at: Ns, _out: SpanSink): void {}
}
