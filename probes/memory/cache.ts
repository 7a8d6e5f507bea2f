import type { Decoder, Event, Snapshot } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { SpanSink, Track } from "../../lib/events/span.ts";
import { toldApart } from "../../lib/events/text.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import { INODES } from "../../lib/machine/inode.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { StreamTotals } from "../../lib/timeline/stream_totals.ts";
import { FileNames, namingFacts, namingRecords } from "../files/names.ts";
import { callInProgress, withRegisters } from "../process/call_in_progress.ts";
import template from "./cache.bt" with { type: "text" };

/** How much of each file had to be brought into the page cache. */
export const cache: Probe = {
  name: "memory/cache",
  summary: "bytes that entered the page cache, by file",
  template: withRegisters(template),
  params: {
    inodes: { type: "int", value: INODES },
    page: { type: "page", value: String },
    order: { type: "field", field: "filemap:mm_filemap_add_to_page_cache.order", is: "args->order", without: "0" },
    ...callInProgress,
    // write, pwrite64, writev, pwritev, pwritev2
    reads: {
      type: "arch",
      x86_64: "$number != 1 && $number != 18 && $number != 20 && $number != 296 && $number != 328",
      aarch64: "$number != 64 && $number != 68 && $number != 66 && $number != 70 && $number != 287",
    },
    // copy_file_range and splice, and sendfile, with the number of the file that they write to
    copies: { type: "arch", x86_64: "$number == 326 || $number == 275", aarch64: "$number == 285 || $number == 76" },
    sends: { type: "arch", x86_64: "$number == 40", aarch64: "$number == 71" },
    third: { type: "arch", x86_64: "*(uint64 *)($regs + 96)", aarch64: "*(uint64 *)($regs + 16)" },
    first: { type: "arch", x86_64: "*(uint64 *)($regs + 112)", aarch64: "*(uint64 *)($regs + 272)" },
  },
  tracepoints: ["filemap:mm_filemap_add_to_page_cache"],
  records: {},
  maps: { cached: { key: ["dev", "inode"], unit: "bytes" } },
  sees: namingRecords,
  facts: namingFacts,
  decoder: (tracks) => new CacheDecoder(tracks),
};

interface Reading {
  readonly at: Ns;
  /** Since the beginning, in bytes. It may be ahead of its time by some pauses of the reader. */
  readonly value: number;
}

/** One file. As long as its name may still come (it can have been read as a whole before its opening is told), its readings wait. */
interface Filled {
  readonly dev: number;
  readonly inode: number;
  waiting: Reading[];
  last?: number;
  track?: Track;
}

class CacheDecoder implements Decoder {
  readonly #names = new FileNames();
  readonly #totals = new StreamTotals();
  /** By device and inode: what a file is called may change, and may be the name of another as well. */
  readonly #files = new Map<string, Filled>();
  readonly #rows = new Set<string>();
  #pid = 0;

  constructor(readonly tracks: Tracks) {}

  fact(fact: Fact): void {
    this.#names.fact(fact);
  }

  event(event: Event, out: SpanSink): void {
    // Files belong to the tree as a whole; the counters are drawn beside its first process.
    this.#pid ||= event.pid;
    const key = this.#names.see(event);
    const file = key === undefined ? undefined : this.#files.get(key);
    if (file) this.#tell(file, out);
  }

  snapshot(snapshot: Snapshot, out: SpanSink): void {
    const [dev, inode] = snapshot.key as [number, number], value = this.#totals.add(snapshot);
    const id = `${dev}:${inode}`;
    const file = this.#files.get(id) ?? { dev, inode, waiting: [] };
    this.#files.set(id, file);
    if (file.last === value) return;
    file.last = value;
    file.waiting.push({ at: snapshot.at, value });
    if (this.#names.knows(dev, inode)) this.#tell(file, out);
  }

  /** What has no name by now was not opened before llmprof's eyes. */
  end(_at: Ns, out: SpanSink): void {
    for (const file of this.#files.values()) this.#tell(file, out);
  }

  #tell(file: Filled, out: SpanSink): void {
    const { dev, inode } = file;
    const track = file.track ??= this.tracks.counter(this.#pid, this.#row(file), "bytes", { file: { dev, inode }, group: "page cache filled" });
    for (const { at, value } of file.waiting) out({ type: "counter", track, at, value });
    file.waiting = [];
  }

  #row({ dev, inode }: Filled): string {
    const name = `page cache filled: ${this.#names.of(dev, inode)}`;
    const row = this.#rows.has(name) ? toldApart(name, inode) : name;
    this.#rows.add(row);
    return row;
  }
}
