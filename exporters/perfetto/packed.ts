import { Buffer } from "node:buffer";
import { deflateSync } from "node:zlib";
import type { ByteSink } from "../../lib/events/exporter.ts";
import { Trace, TracePacket } from "./fields.ts";
import { DESCRIPTORS } from "./tracks.ts";
import { ProtoWriter } from "./writer.ts";

/** Of packets, compressed in one go. Each block says all anew that it does not find in itself: with a quarter of it, a trace of operators is 5 % larger. */
const BLOCK = 4 << 20;
/** For a trace of operators level 4 takes as long and writes a sixth more; 6 takes a fifth longer and writes 1 % less (0.3 and 0.36 µs a slice). */
const options = { level: 5 };

/** Such as a file. */
type ReplacingSink = ByteSink & Required<Pick<ByteSink, "replace">>;

/** Compresses what goes into a sink that can put something else in place of what was written. Any other gets the packets as they are. */
export function packing(sink: ByteSink): ByteSink {
  return canReplace(sink) ? new PackedSink(sink) : sink;
}

function canReplace(sink: ByteSink): sink is ReplacingSink {
  return sink.replace !== undefined;
}

/**
 * Packets reach the file as they are, so that whoever reads it meanwhile, or after a crash, finds them; when there are enough for a block, one that holds them
 * compressed takes their place (Perfetto's `compressed_packets`). Each call to {@link write} has to give whole packets, which begin with their sequence, as
 * the exporter's do.
 */
class PackedSink implements ByteSink {
  /** As they are in the file, behind the last block. */
  #packets = new Uint8Array(BLOCK + (1 << 20));
  #length = 0;

  readonly #out: ProtoWriter;

  constructor(private readonly sink: ReplacingSink) {
    this.#out = new ProtoWriter({ write: (bytes) => this.#replace(bytes), close() {} });
  }

  write(bytes: Uint8Array, tail?: Uint8Array): void {
    this.sink.write(bytes, tail);
    this.#keep(bytes);
    if (this.#length < BLOCK) return;
    while (this.#length >= BLOCK) this.#pack();
    if (tail) this.sink.write(new Uint8Array(), tail);
  }

  sync(): void {
    this.sink.sync?.();
  }

  discard(): void {
    this.sink.discard?.();
  }

  close(): void {
    try {
      if (this.#length > 0) this.#pack();
    } finally {
      this.sink.close();
    }
  }

  #keep(bytes: Uint8Array): void {
    if (this.#length + bytes.length > this.#packets.length) {
      const more = new Uint8Array(2 * (this.#length + bytes.length));
      more.set(this.#packets.subarray(0, this.#length));
      this.#packets = more;
    }
    this.#packets.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Packets of which little is saved stay as they are: a few at the end. */
  #replace(bytes: Uint8Array): void {
    if (this.#length - bytes.length >= SHORTEST_COVER) this.sink.replace(this.#length, bytes, cover);
  }

  #pack(): void {
    const { bySequence, end } = firstBlock(this.#packets.subarray(0, this.#length));
    const packet = this.#out.begin(Trace.packet);
    this.#out.bytes(TracePacket.compressedPackets, deflateSync(Buffer.concat(bySequence), options));
    this.#out.end(packet);
    this.#out.encoded(this.#packets.subarray(end, this.#length));
    this.#out.spill(1);
    this.#packets.copyWithin(0, end, this.#length);
    this.#length -= end;
  }
}

/** A packet with a field of no bytes. */
const SHORTEST_COVER = 5;

/** The beginning of a packet of that length, header included, in which there is nothing but a field that nobody knows. */
function cover(length: number): Uint8Array {
  const packet = beginOf(Trace.packet, length);
  return Uint8Array.from([...packet, ...beginOf(TracePacket.unknown, length - packet.length)]);
}

/** Tag and length of a field that takes so many bytes with them. */
function beginOf(field: number, bytes: number): number[] {
  const tag = varint(field << 3 | 2);
  let width = 1;
  while (bytes - tag.length - width >= 128 ** width) width++;
  return [...tag, ...varint(bytes - tag.length - width, width)];
}

/** Of that many bytes, or as few as there can be. */
function varint(value: number, width = 1): number[] {
  return value < 128 && width === 1 ? [value] : [value % 128 | 0x80, ...varint(Math.floor(value / 128), Math.max(1, width - 1))];
}

/**
 * The packets of a block, and where they end, which depends on nothing but what they are. They are put together by sequence, in which alone their order means
 * something: what a sequence says again is nearer then, and within what deflate looks back at, however many others there are.
 */
function firstBlock(packets: Uint8Array): { readonly bySequence: readonly Uint8Array[]; readonly end: number } {
  // A reader that meets a counter's value before the counter drops it.
  const runs = new Map<number, Uint8Array[]>([[DESCRIPTORS, []]]);
  let at = 0, runSequence = 0, runBegin = 0;
  const varint = () => {
    let value = 0;
    for (let unit = 1;; unit *= 128) {
      const byte = packets[at++]!;
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
    }
  };
  const endRun = (end: number) => {
    const run = packets.subarray(runBegin, end), others = runs.get(runSequence);
    if (others) others.push(run);
    else if (run.length > 0) runs.set(runSequence, [run]);
  };
  while (at < packets.length && at < BLOCK) {
    const begin = at++, length = varint(), end = at + length;
    at++;
    const sequence = varint();
    if (sequence !== runSequence) {
      endRun(begin);
      [runSequence, runBegin] = [sequence, begin];
    }
    at = end;
  }
  endRun(at);
  return { bySequence: [...runs.values()].flat(), end: at };
}
