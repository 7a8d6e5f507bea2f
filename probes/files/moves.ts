import type { Decoder, Event, Field } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import { INODES } from "../../lib/machine/inode.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import template from "./moves.bt" with { type: "text" };
import { FileNames, namingFacts, namingRecords } from "./names.ts";

const fields: readonly Field[] = [
  { name: "began", type: "time" },
  { name: "call", type: "int" },
  { name: "dev", type: "int" },
  { name: "inode", type: "int" },
  { name: "bytes", type: "int", unit: "bytes" },
];

/** What is asked of a regular file without a read. */
export const moves: Probe = {
  name: "files/moves",
  summary: "regular files of the target: sent, spliced, copied, fetched ahead",
  template,
  params: { inodes: { type: "int", value: INODES } },
  records: { moved: fields, fetched: fields },
  sees: namingRecords,
  facts: namingFacts,
  decoder: (tracks) => new MovesDecoder(tracks),
};

/** By their numbers in the template. */
const CALLS = ["", "sendfile", "splice", "copy_file_range", "readahead", "posix_fadvise"];

class MovesDecoder implements Decoder {
  readonly #names = new FileNames();

  constructor(readonly tracks: Tracks) {}

  fact(fact: Fact): void {
    this.#names.fact(fact);
  }

  event(event: Event, out: SpanSink): void {
    if (this.#names.see(event) !== undefined) return;
    const [began, call, dev, inode, bytes] = event.values as [Ns, number, number, number, number];
    const category = event.record === "files/moves.moved" ? "file.read" : "file.fetch";
    const file = this.#names.of(dev, inode);
    const track = this.tracks.thread(event.pid, event.tid);
    out({ type: "slice", track, name: `${CALLS[call]} ${file}`, category, start: began, end: event.at, args: { file, dev, inode, bytes } });
  }

  end(): void {}
}
