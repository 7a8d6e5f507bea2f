import type { Args, BlockRequest, SpanSink, Track } from "../../lib/events/span.ts";
import type { Decoder, Event, Snapshot } from "../../lib/events/event.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Param, Probe } from "../../lib/programs/probe.ts";
import { AtOnce } from "./at_once.ts";
import { InARow } from "./in_a_row.ts";
import { withIssued } from "./issued.ts";
import template from "./request.bt" with { type: "text" };

const thread = { name: "thread", type: "int", unit: "subject thread" } as const;
const where = [{ name: "dev", type: "int", unit: "2^20 × major + minor" }, { name: "sector", type: "int", unit: "512 bytes" }] as const;
const bytes = { name: "bytes", type: "int", unit: "bytes" } as const;
const what = { name: "what", type: "int", unit: "letter: R, W, D (discard), F (flush), or the block layer's number of these" } as const;

/** What a raw tracepoint has. */
const REQUEST = "((struct request *)arg0)", BIO = "((struct bio *)arg0)";
/** What a tracepoint has are letters, an F before a W where a write has to be behind a flush. */
const BY_LETTER = Object.entries({ R: 82, W: 87, FW: 87, F: 70, D: 68 })
  .reduceRight((other, [letters, number]) => `(strncmp(args->rwbs, "${letters}", ${letters.length}) == 0 ? ${number} : ${other})`, "255");
/** What has no place, as a flush, was asked for at 0. The request that the device gets for it is at -1, of which tracepoints make 0 until it is answered. */
const placed = (sector: string) => `(${sector} + 1 == 0 ? (uint64)0 : ${sector})`;

/** Where requests are seen as they are made, handed over, taken back and answered, and what they say. */
export const handed: Readonly<Record<string, Param>> = {
  make: { type: "tracepoint", raw: "block_getrq", name: "block:block_getrq" },
  merge: { type: "tracepoint", raw: "block_bio_frontmerge", name: "block:block_bio_frontmerge" },
  append: { type: "tracepoint", raw: "block_bio_backmerge", name: "block:block_bio_backmerge" },
  split: { type: "tracepoint", raw: "block_split", name: "block:block_split" },
  vanish: { type: "tracepoint", raw: "block_rq_merge", name: "block:block_rq_merge" },
  issue: { type: "tracepoint", raw: "block_rq_issue", name: "block:block_rq_issue" },
  requeue: { type: "tracepoint", raw: "block_rq_requeue", name: "block:block_rq_requeue" },
  complete: { type: "tracepoint", raw: "block_rq_complete", name: "block:block_rq_complete" },
  // As it is made: the disk, by what the kernel has for it or by its number, and where.
  asked: { type: "at", raw: `(uint64)${BIO}->bi_bdev->bd_disk`, tracepoint: "(uint64)args->dev" },
  from: { type: "at", raw: `(uint64)${BIO}->bi_iter.bi_sector`, tracepoint: "(uint64)args->sector" },
  sectors: { type: "at", raw: `(uint64)${BIO}->bi_iter.bi_size / 512`, tracepoint: "(uint64)args->nr_sector" },
  asking: { type: "at", raw: `(uint64)(${BIO}->bi_opf & 255)`, tracepoint: `(uint64)${BY_LETTER}` },
  // From then on. `dev` is of the disk that the template calls `$disk`.
  disk: { type: "at", raw: `(uint64)${REQUEST}->q->disk`, tracepoint: "(uint64)args->dev" },
  dev: { type: "at", raw: "(uint64)((struct gendisk *)$disk)->part0->bd_dev", tracepoint: "$disk" },
  sector: { type: "at", raw: placed(`(uint64)${REQUEST}->__sector`), tracepoint: placed("(uint64)args->sector") },
  // Of a number of 2^20 × major + minor sixteen majors are told apart, and more than a hundred terabytes.
  request: { type: "at", raw: "(uint64)arg0", tracepoint: `((uint64)args->dev << 40) + ${placed("(uint64)args->sector")}` },
  bytes: { type: "at", raw: `(uint64)${REQUEST}->__data_len`, tracepoint: "(uint64)args->bytes" },
  // What is answered of it, in sectors, from `sector` on; and what its rest is known by then.
  part: { type: "at", raw: "(uint64)(arg2 & 4294967295) / 512", tracepoint: "(uint64)args->nr_sector" },
  rest: { type: "at", raw: "$request", tracepoint: "$request + $part" },
  // Where another path takes over what was asked for (nvme), nothing is left of the request, which then ends without an error; a tracepoint does not tell.
  left: { type: "at", raw: `(uint64)${REQUEST}->__data_len / 512`, tracepoint: "(uint64)4294967295" },
  what: { type: "at", raw: `(uint64)(${REQUEST}->cmd_flags & 255)`, tracepoint: `(uint64)${BY_LETTER}` },
  error: { type: "at", raw: "1000 + (arg1 & 255)", tracepoint: "args->error" },
};

const pieces = { key: ["dev", "what"], unit: "requests" };

/** Each request of the target to a block device. */
export const request: Probe = {
  name: "block/request",
  summary: "requests to block devices: how long each waits and how long the device takes",
  template: withIssued(template),
  tracepoints: ["block:block_getrq", "block:block_rq_issue", "block:block_rq_complete"],
  params: handed,
  hot: true,
  widest: 8,
  records: {
    done: [
      thread,
      { name: "made", type: "time" },
      { name: "issued", type: "time" },
      ...where,
      bytes,
      what,
      { name: "error", type: "int", unit: "negative errno, or 1000 + a status of the block layer" },
    ],
    requeued: [thread, ...where],
    // The device had not answered when the window was shut.
    still: [thread, { name: "made", type: "time" }, { name: "issued", type: "time" }, ...where, bytes, what],
  },
  // Elsewhere it is not known which were answered, and not seen to be.
  atClose: `WITH(raw) {
    for ($each : @issued) {
      if ($each.1.0 > 1) {
        $r = (struct request *)$each.0;
        EMIT(still, $each.1.3, $each.1.2, $each.1.0, $each.1.4, (uint64)$r->__sector, $each.1.1 & 4294967295, (uint64)($r->cmd_flags & 255));
      }
    }
  }`,
  maps: { merged: pieces, split: pieces },
  decoder: (tracks) => new RequestDecoder(tracks),
};

/** By letter, and by number: REQ_OP_READ, _WRITE, _FLUSH, _DISCARD. */
const NAMES: Readonly<Record<number, BlockRequest["what"]>> = {
  82: "read",
  87: "write",
  70: "flush",
  68: "discard",
  0: "read",
  1: "write",
  2: "flush",
  3: "discard",
};
const nameOf = (letter: number) => NAMES[letter] ?? "other";
const SECTOR = 512;
/** Statuses of the block layer by number, as errno: blk_status_t. */
const STATUS = [0, 95, 110, 28, 67, 121, 52, 61, 84, 12];
const EIO = 5;

class RequestDecoder implements Decoder {
  /** By process and number of the device. */
  readonly #disks = new Map<number, Map<number, Disk>>();

  /** By stream, number of the device and kind. */
  readonly #pieces = new Map<string, { readonly device: string; readonly what: string; merged: number; split: number }>();

  constructor(readonly tracks: Tracks) {}

  snapshot({ stream, map, key, value }: Snapshot): void {
    const [dev, letter] = key as readonly [number, number], id = `${stream} ${dev} ${letter}`;
    let pieces = this.#pieces.get(id);
    if (!pieces) this.#pieces.set(id, pieces = { device: deviceOf(dev), what: nameOf(letter), merged: 0, split: 0 });
    pieces[map === "block/request.merged" ? "merged" : "split"] = value;
  }

  event(event: Event, out: SpanSink): void {
    const { record, at, pid, tid, values } = event;
    if (record === "block/request.requeued") {
      const [, dev, sector] = values as number[];
      const args = { device: deviceOf(dev!), sector: sector! };
      return out({ type: "instant", track: this.tracks.thread(pid, tid), name: "requeued", category: "block.requeue", at, args });
    }
    const [, made, issued, dev, sector, bytes, letter, error = 0] = values as [number, Ns, Ns, number, number, number, number, number?];
    const isOpen = record === "block/request.still";
    const { device, track, rows, atOnce } = this.#disk(pid, dev, out);
    atOnce.add(issued, at);
    const what = nameOf(letter);
    let kinds = rows.get(tid);
    if (!kinds) rows.set(tid, kinds = {});
    const row = kinds[what] ??= new InARow();
    const sequential = isOpen ? 0 : row.add({ begin: sector, end: sector + bytes / SECTOR, made, at });
    const errno = error >= 1000 ? STATUS[error - 1000] ?? EIO : -error;
    const block: BlockRequest = { device, what, bytes, queuedNs: issued - made, thread: tid, sequential, error: errno };
    const args: { -readonly [name in string]: Args[name] } = { device, bytes, sector, queuedNs: block.queuedNs, thread: tid };
    if (sequential > 0) args.sequential = true;
    if (errno !== 0) args.errno = errno;
    out({ type: "slice", track, name: what, category: "block.request", start: issued, end: at, args, block, ...isOpen && { open: true } });
  }

  end(at: Ns, out: SpanSink): void {
    for (const disks of this.#disks.values()) for (const { atOnce } of disks.values()) atOnce.end();
    for (const { what, ...args } of this.#pieces.values()) {
      out({ type: "instant", track: this.tracks.run(), name: what, category: "block.pieces", at, args: { ...args, what } });
    }
    this.#pieces.clear();
  }

  #disk(pid: number, dev: number, out: SpanSink): Disk {
    let disks = this.#disks.get(pid);
    if (!disks) this.#disks.set(pid, disks = new Map());
    let disk = disks.get(dev);
    if (!disk) {
      const device = deviceOf(dev);
      const counter = this.tracks.counter(pid, `requests at once: disk ${device}`, "requests");
      const atOnce = new AtOnce((at, value) => out({ type: "counter", track: counter, at, value }));
      disks.set(dev, disk = { device, track: this.tracks.lane(pid, `disk ${device}`, 5), rows: new Map(), atOnce });
    }
    return disk;
  }
}

/** A disk as a process uses it. */
interface Disk {
  readonly device: string;
  readonly track: Track;
  /** By thread and kind. */
  readonly rows: Map<number, Partial<Record<BlockRequest["what"], InARow>>>;
  /** What it has of the process's. */
  readonly atOnce: AtOnce;
}

/** `7:0`, as the kernel names it everywhere. */
export function deviceOf(dev: number): string {
  return `${Math.floor(dev / 2 ** 20)}:${dev % 2 ** 20}`;
}
