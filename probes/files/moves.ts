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

/** A call begins: of which file, where that is one of such a size, which `wants` something of it. Which file it is has to be known while it lasts. */
const begins = (call: string, wants: string, bytes: string) =>
  `$f = (struct file *)(*((uint64 *)((uint64)curtask->files->fdt->fd + 8 * $fd)));
  $i = $f->f_inode;
  $size = (uint64)$i->i_size;
  if (($i->i_mode & 0xf000) == 0x8000 && ${wants}) {
    ${bytes}
    @moving[tid] = (nsecs, (uint64)${call}, (uint64)$i->i_sb->s_dev, (uint64)$i->i_ino % {{inodes}}, (uint64)pid * 4194304 + (uint64)tid, $bytes);
  } else {
    delete(@moving[tid]);
  }`;
const withBeginnings = (template: string) =>
  template
    .replace(/MOVES\((\d)\)/g, (_, call: string) => begins(call, "$size > 0", "$bytes = (uint64)0;"))
    // As far as the file goes.
    .replace(/FETCHES\((\d)\)/g, (_, call: string) => begins(call, "$size > $from", "if ($bytes > $size - $from) { $bytes = $size - $from; }"));

/** What is asked of a regular file without a read. */
export const moves: Probe = {
  name: "files/moves",
  summary: "regular files of the target: sent, spliced, copied, fetched ahead",
  template: withBeginnings(template),
  params: { inodes: { type: "int", value: INODES } },
  records: {
    moved: fields,
    fetched: fields,
    // It had not returned when the window was shut.
    still: [{ name: "thread", type: "int", unit: "subject thread" }, ...fields.slice(0, 4)],
  },
  atClose: "for ($each : @moving) { EMIT(still, $each.1.4, $each.1.0, $each.1.1, $each.1.2, $each.1.3); }",
  sees: namingRecords,
  facts: namingFacts,
  decoder: (tracks) => new MovesDecoder(tracks),
};

/** By their numbers in the template. */
const CALLS = ["", "sendfile", "splice", "copy_file_range", "readahead", "posix_fadvise"];
const FETCHING = 4;

class MovesDecoder implements Decoder {
  readonly #names = new FileNames();

  constructor(readonly tracks: Tracks) {}

  fact(fact: Fact): void {
    this.#names.fact(fact);
  }

  event(event: Event, out: SpanSink): void {
    if (this.#names.see(event) !== undefined) return;
    const isOpen = event.record === "files/moves.still";
    const [start, call, dev, inode, bytes = 0] = event.values.slice(isOpen ? 1 : 0) as [Ns, number, number, number, number?];
    const category = call < FETCHING ? "file.read" : "file.fetch", args = { file: this.#names.of(dev, inode), dev, inode, bytes };
    const track = this.tracks.thread(event.pid, event.tid);
    out({ type: "slice", track, name: `${CALLS[call]} ${args.file}`, category, start, end: event.at, args, ...isOpen && { open: true } });
  }

  end(): void {}
}
