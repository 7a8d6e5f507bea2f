import { Buffer } from "node:buffer";
import { inflateSync } from "node:zlib";

/** Where a packet begins, with its tag, and where what it says does. */
interface Packet {
  readonly from: number;
  readonly begin: number;
  readonly end: number;
}

/** Tag of `TracePacket.compressed_packets`, a field of bytes with the number 50. */
const compressedPackets = 50 << 3 | 2;

/** The packets of a `.pftrace` as they were before they were compressed: for who looks for something in its bytes. */
export function unpacked(trace: Uint8Array): Uint8Array {
  return Buffer.concat(
    packetsOf(trace).map(({ from, begin, end }) => {
      const [tag, afterTag] = varint(trace, begin);
      return tag === compressedPackets ? inflateSync(trace.subarray(varint(trace, afterTag)[1], end)) : trace.subarray(from, end);
    }),
  );
}

/** The bytes of each sequence's packets, which all begin with its number; in order. */
export function bySequence(trace: Uint8Array): Map<number, Uint8Array> {
  const sequences = Map.groupBy(packetsOf(trace), ({ begin }) => varint(trace, begin + 1)[0]);
  return new Map([...sequences].map(([number, packets]) => [number, Buffer.concat(packets.map(({ from, end }) => trace.subarray(from, end)))]));
}

export function packetsOf(trace: Uint8Array): Packet[] {
  const packets: Packet[] = [];
  for (let from = 0; from < trace.length; from = packets.at(-1)!.end) {
    const [length, begin] = varint(trace, from + 1);
    packets.push({ from, begin, end: begin + length });
  }
  return packets;
}

/** The number there, and where the next byte is. */
export function varint(bytes: Uint8Array, from: number): readonly [number, number] {
  let value = 0;
  for (let at = from, unit = 1;; unit *= 128) {
    const byte = bytes[at++]!;
    value += (byte & 127) * unit;
    if (byte < 128) return [value, at];
  }
}
