import { type Base, type Ns, parseNs } from "../events/time.ts";
import { shortAddress, shortThread } from "../programs/short_line.ts";

/** What a number is below, on either side of zero: 64 bits with a sign, as programs print them and readers of traces take them. */
const INTEGERS = 2 ** 63;
const NEWLINE = 10, SPACE = 32, COMMA = 44, MINUS = 45, ZERO = 48, LETTER_X = 120;
/** By byte: its hexadecimal digit, 16 where it is none. */
const HEX = Uint8Array.from({ length: 256 }, (_, code) => {
  const digit = hexDigit(code);
  return digit >= 0 ? digit : 16;
});

/**
 * Reads the fields of a line one after another, byte by byte out of its block: half of llmprof's own time is spent here, and a string for each
 * line and each field would double it. What is no such field is NaN or null, and leaves the reader where it was. The numbers in a pair of
 * brackets are read as the fields of a line are.
 */
export class LineFields {
  #bytes: Uint8Array = new Uint8Array();
  #at = 0;
  #close = NEWLINE;
  shortThread = 0;
  shortAddress = 0;

  constructor(readonly base: Base) {}

  /**
   * Begins at the first byte of a line, whose fields have a blank between them and a newline behind them; or of what stands in brackets, with a
   * comma and a blank between, when `close` is the bracket behind it. The newline of its line has to be in `bytes`.
   */
  begin(bytes: Uint8Array, at: number, close = NEWLINE): void {
    this.#bytes = bytes;
    this.#at = at;
    this.#close = close;
  }

  /** An integer without zeros before it; NaN for 0 too. */
  kind(): number {
    return this.#bytes[this.#at] === ZERO ? NaN : this.integer();
  }

  /** A decimal integer. */
  integer(): number {
    const bytes = this.#bytes;
    let at = this.#at;
    const negative = bytes[at] === MINUS;
    if (negative) at++;
    const first = at;
    let value = 0;
    for (let digit = bytes[at]! ^ ZERO; digit <= 9;) {
      // Nine digits fit into a small integer, with which the processor is several times quicker than with a floating-point number.
      let nine = 0, scale = 1;
      for (const end = at + 9; at < end && digit <= 9; digit = bytes[++at]! ^ ZERO) {
        nine = nine * 10 + digit;
        scale *= 10;
      }
      value = value * scale + nine;
    }
    if (at === first || value >= INTEGERS || !this.#endAt(at)) return NaN;
    return negative ? -value : value;
  }

  /**
   * `x<thread and address>` at the end of a line, the short form of short_line.ts, which is then told by {@link shortThread} and {@link shortAddress};
   * false where there is none.
   */
  short(): boolean {
    const bytes = this.#bytes;
    if (bytes[this.#at] !== LETTER_X) return false;
    const first = this.#at + 1;
    let at = first, high = 0, low = 0;
    for (let digit = HEX[bytes[at]!]!; digit <= 15; digit = HEX[bytes[++at]!]!) {
      high = (high << 4) | (low >>> 28);
      low = (low << 4) | digit;
    }
    if (at === first || at > first + 16 || bytes[at] !== NEWLINE) return false;
    this.#at = at;
    this.shortThread = shortThread(low);
    this.shortAddress = shortAddress(high, low);
    return true;
  }

  /** A moment: decimal nanoseconds since boot. */
  time(): Ns {
    const bytes = this.#bytes;
    let end = this.#at;
    while ((bytes[end]! ^ ZERO) <= 9) end++;
    const at = parseNs(bytes, this.#at, end, this.base);
    return this.#endAt(end) ? at : NaN;
  }

  /** `6c 6b 00 ff` up to the end of the line: the bytes before the first NUL. */
  bytes(): Uint8Array | null {
    const bytes = this.#bytes;
    let at = this.#at;
    if (bytes[at] === NEWLINE) return null;
    const found: number[] = [];
    while (true) {
      const byte = hexDigit(bytes[at]!) * 16 + hexDigit(bytes[at + 1]!);
      const after = bytes[at += 2];
      if (!(byte >= 0) || (after !== SPACE && after !== NEWLINE)) return null;
      if (byte === 0) break;
      found.push(byte);
      // The blank after the last byte may be missing.
      if (after === NEWLINE || bytes[++at] === NEWLINE) break;
    }
    this.#at = at;
    this.skip();
    return new Uint8Array(found);
  }

  /** Index of the newline or bracket when every field has been read, -1 otherwise. */
  get end(): number {
    return this.#bytes[this.#at] === this.#close ? this.#at : -1;
  }

  /** Passes over the fields of the line that are left. Returns where the next line begins. */
  skip(): number {
    this.#at = this.#bytes.indexOf(NEWLINE, this.#at);
    return this.#at + 1;
  }

  /** A field ends with what separates it from the next, which belongs to it, or with the line or bracket. */
  #endAt(at: number): boolean {
    const bytes = this.#bytes;
    if (bytes[at] !== this.#close) {
      if (this.#close !== NEWLINE && bytes[at++] !== COMMA) return false;
      // Where nothing follows, a separator is one too many.
      if (bytes[at++] !== SPACE || bytes[at] === this.#close) return false;
    }
    this.#at = at;
    return true;
  }
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  if (code >= 97 && code <= 102) return code - 87;
  return NaN;
}
