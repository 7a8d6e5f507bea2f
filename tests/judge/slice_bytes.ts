import { packetsOf, varint } from "./unpacked.ts";

/** What slices of a category take in the packets of their sequences. */
export interface SliceBytes {
  readonly begins: number;
  readonly ends: number;
  /** Of these packets, whole. */
  readonly bytes: number;
  /** Of that, what a slice says of itself: arguments, arrows, and texts that it is the first to refer to. */
  readonly said: number;
}

/** Fields of Perfetto's messages, as in its `protos/perfetto/trace/`. */
const packet = { trackEvent: 11, internedData: 12 } as const, event = { annotations: 4, type: 9, flows: 47, flowEnds: 48 } as const;
const internedCategories = 1, sliceBegin = 1, sliceEnd = 2;
const SAID: readonly number[] = [event.annotations, event.flows, event.flowEnds];

interface Field {
  readonly field: number;
  /** Tag and length included. */
  readonly size: number;
  readonly number: number;
  readonly bytes: Uint8Array;
}

/** Of a trace that is not compressed. Whoever begins a slice of the category has a sequence in which nothing else is. */
export function sliceBytes(trace: Uint8Array, category: string): SliceBytes {
  const packets = packetsOf(trace).map(({ from, begin, end }) => ({ size: end - from, fields: [...fieldsOf(trace.subarray(begin, end))] }));
  const inPacket = (fields: readonly Field[], wanted: number) => fields.filter(({ field }) => field === wanted);
  const named = packets.filter(({ fields }) => inPacket(fields, packet.internedData).some(({ bytes }) => categories(bytes).includes(category)));
  const sequences = new Set(named.map(({ fields }) => fields[0]!.number));
  const sums = { begins: 0, ends: 0, bytes: 0, said: 0 };
  for (const { size, fields } of packets) {
    const told = inPacket(fields, packet.trackEvent).flatMap(({ bytes }) => [...fieldsOf(bytes)]);
    if (told.length === 0 || !sequences.has(fields[0]!.number)) continue;
    const type = told.find(({ field }) => field === event.type)!.number;
    if (type === sliceBegin) sums.begins++;
    if (type === sliceEnd) sums.ends++;
    sums.bytes += size;
    const said = [...inPacket(fields, packet.internedData), ...told.filter(({ field }) => SAID.includes(field))];
    sums.said += said.reduce((sum, { size }) => sum + size, 0);
  }
  return sums;
}

/** Those that interned data brings. */
function categories(interned: Uint8Array): string[] {
  const entries = [...fieldsOf(interned)].filter(({ field }) => field === internedCategories);
  return entries.map(({ bytes }) => new TextDecoder().decode([...fieldsOf(bytes)].at(-1)!.bytes));
}

function* fieldsOf(message: Uint8Array): Iterable<Field> {
  for (let from = 0, at = 0; from < message.length; from = at) {
    const [tag, behind] = varint(message, from), [number, next] = varint(message, behind);
    // A number, eight bytes, a length with as many bytes.
    at = (tag & 7) === 0 ? next : (tag & 7) === 1 ? behind + 8 : next + number;
    yield { field: tag >>> 3, size: at - from, number, bytes: message.subarray(next, at) };
  }
}
