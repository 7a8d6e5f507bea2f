import { Buffer } from "node:buffer";
import { inflateSync } from "node:zlib";

/** Where a packet begins, with its tag, and where what it says does. */
interface Packet {
  readonly from: number;
  readonly begin: number;
  readonly end: number;
}

/** Tags of `Trace.packet` and of `TracePacket.compressed_packets`, fields of bytes with the numbers 1 and 50. */
const packetTag = 1 << 3 | 2, compressedPackets = 50 << 3 | 2;

/** The packets of a `.pftrace` as they were before they were compressed: for who looks for something in its bytes. */
export function unpacked(trace: Uint8Array): Uint8Array {
  return Buffer.concat(
    packetsOf(trace).map(({ from, begin, end }) => {
      const [tag, afterTag] = varint(trace, begin);
      return tag === compressedPackets ? inflateSync(trace.subarray(varint(trace, afterTag)[1], end)) : trace.subarray(from, end);
    }),
  );
}

/** Whether there are whole packets, one behind the other, and nothing else. */
export function isWhole(trace: Uint8Array): boolean {
  let at = 0;
  while (at < trace.length) {
    if (trace[at] !== packetTag) return false;
    const [length, begin] = varint(trace, at + 1);
    at = begin + length;
  }
  return at === trace.length;
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
    const byte = bytes[at++] ?? 0;
    value += (byte & 127) * unit;
    if (byte < 128) return [value, at];
  }
}
