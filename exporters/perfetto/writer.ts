import type { ByteSink } from "../../lib/events/exporter.ts";

const wire = { varint: 0, fixed64: 1, bytes: 2 } as const;

/** Room for a tag, a number and a length; every step that writes more asks for it. */
const slack = 64;
/** Bytes between two tails: a live run has fewer in the fifth of a second between two flushes, a replay is a hundred times as fast. */
const MOST = 2 << 20;

/**
 * A protobuf writer over one buffer that is used again and again. Fields are written in order; a message is opened with {@link begin} and
 * closed with {@link end}. What is finished goes to the sink in pieces of about 256 KiB, each valid only during the call.
 */
export class ProtoWriter {
  #bytes = new Uint8Array((256 + 64) * 1024);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;
  #sinceTail = 0;
  #inTail = false;
  readonly #encoder = new TextEncoder();

  constructor(private readonly sink: ByteSink) {}

  /** A field of type uint32, uint64, bool or enum: whole and not negative. */
  uint(field: number, value: number): void {
    this.#reserve(slack);
    this.#varint(field << 3 | wire.varint);
    this.#varint(value);
  }

  /** A field of type int32 or int64. */
  int(field: number, value: number): void {
    if (value >= 0) return this.uint(field, value);
    // Ten bytes of two's complement; rare enough for BigInt.
    const bits = BigInt.asUintN(64, BigInt(value));
    this.wide(field, Number(bits >> 28n), Number(bits & 0xfffffffn));
  }

  /** A uint64 field given as `high * 2^28 + low`, for numbers above 2^53. `low` is below 2^28, `high` below 2^36. */
  wide(field: number, high: number, low: number): void {
    if (high === 0) return this.uint(field, low);
    this.#reserve(slack);
    this.#varint(field << 3 | wire.varint);
    const bytes = this.#bytes;
    bytes[this.#length++] = low & 0x7f | 0x80;
    bytes[this.#length++] = low >>> 7 & 0x7f | 0x80;
    bytes[this.#length++] = low >>> 14 & 0x7f | 0x80;
    bytes[this.#length++] = low >>> 21 | 0x80;
    this.#varint(high);
  }

  /** Fields that were encoded before: see {@link since}. */
  encoded(fields: Uint8Array): void {
    this.#reserve(fields.length);
    this.#bytes.set(fields, this.#length);
    this.#length += fields.length;
  }

  /**
   * A message of fields that were encoded before, see {@link since}, and of a number. Fields below 16; `value`: whole and not negative. What differs in that
   * number alone is most of a trace, and is written without a call for each byte.
   */
  again(message: number, fields: Uint8Array, field: number, value: number): void {
    this.#reserve(slack + fields.length);
    const bytes = this.#bytes;
    let at = this.#length;
    bytes[at++] = message << 3 | wire.bytes;
    const mark = at++;
    bytes.set(fields, at);
    at += fields.length;
    bytes[at++] = field << 3 | wire.varint;
    this.#length = varint(bytes, at, value);
    this.end(mark);
  }

  /** A message of two numbers: see {@link uint}. Most arguments are such. */
  pair(message: number, first: number, value: number, second: number, other: number): void {
    this.#reserve(slack);
    const bytes = this.#bytes;
    const mark = varint(bytes, this.#length, message << 3 | wire.bytes);
    let at = varint(bytes, mark + 1, first << 3 | wire.varint);
    at = varint(bytes, at, value);
    at = varint(bytes, at, second << 3 | wire.varint);
    at = varint(bytes, at, other);
    bytes[mark] = at - mark - 1;
    this.#length = at;
  }

  /** Where the next field will stand, for {@link since}. */
  get position(): number {
    return this.#length;
  }

  /** A copy of what was written since the position, all messages in it closed: fields to be written again. */
  since(position: number): Uint8Array {
    return this.#bytes.slice(position, this.#length);
  }

  double(field: number, value: number): void {
    this.#reserve(slack);
    this.#varint(field << 3 | wire.fixed64);
    this.#view.setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  /** A field of type fixed64: whole, not negative, below 2^32. */
  fixed(field: number, value: number): void {
    this.#reserve(slack);
    this.#varint(field << 3 | wire.fixed64);
    this.#view.setUint32(this.#length, value, true);
    this.#view.setUint32(this.#length + 4, 0, true);
    this.#length += 8;
  }

  string(field: number, text: string): void {
    this.#reserve(slack + 3 * text.length);
    this.#varint(field << 3 | wire.bytes);
    const mark = this.#length++;
    // Names are short and ASCII: this loop is several times faster than an encoder for those.
    if (text.length > 64 || !this.#ascii(text)) this.#length = mark + 1 + this.#encoder.encodeInto(text, this.#bytes.subarray(mark + 1)).written;
    this.end(mark);
  }

  bytes(field: number, bytes: Uint8Array): void {
    const mark = this.begin(field);
    this.encoded(bytes);
    this.end(mark);
  }

  /** Opens a message; give what it returns to {@link end}. */
  begin(field: number): number {
    this.#reserve(slack);
    this.#varint(field << 3 | wire.bytes);
    return this.#length++;
  }

  /** Closes a message: writes its length into the one byte left for it, after moving the content where that takes more. */
  end(mark: number): void {
    const size = this.#length - mark - 1;
    if (size < 0x80) {
      this.#bytes[mark] = size;
      return;
    }
    const width = size < 0x4000 ? 2 : size < 0x200000 ? 3 : 5;
    this.#reserve(slack);
    this.#bytes.copyWithin(mark + width, mark + 1, this.#length);
    this.#length = mark;
    this.#varint(size);
    // A length of four bytes is padded to five: such a message is rare and the reader does not mind.
    while (this.#length < mark + width) {
      this.#bytes[this.#length - 1]! |= 0x80;
      this.#bytes[this.#length++] = 0;
    }
    this.#length = mark + width + size;
  }

  /** Call between messages: passes on what has gathered when it is enough. */
  spill(least = 256 * 1024): void {
    if (this.#length < least || this.#inTail) return;
    this.sink.write(this.#bytes.subarray(0, this.#length));
    this.#sinceTail += this.#length;
    this.#length = 0;
  }

  /** So much has come since the last tail that it is time for one: compressed, it would reach the file without an end. */
  get isFull(): boolean {
    return this.#sinceTail >= MOST;
  }

  /** Passes on what has gathered, and gives what `more` writes after it to the sink as its tail, which does not count as written. */
  tail(more: () => void): void {
    const written = this.#length;
    this.#inTail = true;
    more();
    this.#inTail = false;
    this.sink.write(this.#bytes.subarray(0, written), this.#bytes.subarray(written, this.#length));
    this.#sinceTail = this.#length = 0;
  }

  #varint(value: number): void {
    this.#length = varint(this.#bytes, this.#length, value);
  }

  #ascii(text: string): boolean {
    const bytes = this.#bytes;
    let at = this.#length;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return false;
      bytes[at++] = code;
    }
    this.#length = at;
    return true;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.#length + more));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}

/** Writes the number there, and says where the next byte will stand. */
function varint(bytes: Uint8Array, from: number, value: number): number {
  let at = from, rest = value;
  for (; rest > 0x7fffffff; rest = Math.floor(rest / 128)) bytes[at++] = rest % 128 | 0x80;
  for (; rest > 0x7f; rest >>>= 7) bytes[at++] = rest & 0x7f | 0x80;
  bytes[at++] = rest;
  return at;
}
