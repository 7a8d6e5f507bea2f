/** Takes lines as they lie in a block: bytes [from, to), each line with its newline at the end. They are valid during the call alone. */
export type TakeLines = (bytes: Uint8Array, from: number, to: number) => void;

const decoder = new TextDecoder();

/** A longer line is none of a program's: a recording may hold anything, and a file of zeros has no line end at all. */
const LONGEST_LINE = 16 << 20;
/** What is kept of a line that is too long: enough to see what it was. */
const KEPT = 200;

/** Cuts a stream of bytes behind its newlines. Lines stay where they are; only the one that two blocks share is put together. */
export class LineSplitter {
  #waiting: Uint8Array[] = [];
  #length = 0;

  /** @param longest Bytes of the longest line that is read; of a longer one, the beginning is handed on as a line that no grammar fits. */
  constructor(readonly longest = LONGEST_LINE) {}

  push(block: Uint8Array, take: TakeLines): void {
    const end = block.lastIndexOf(10) + 1;
    if (end === 0) return this.#wait(block);
    let from = 0;
    if (this.#length > 0) {
      from = block.indexOf(10) + 1;
      const isTooLong = this.#length > this.longest;
      const line = isTooLong ? new TextEncoder().encode(`${this.rest()}\n`) : joined([...this.#waiting, block.subarray(0, from)]);
      this.#waiting = [];
      this.#length = 0;
      take(line, 0, line.length);
    }
    if (from < end) take(block, from, end);
    this.#wait(block.subarray(end));
  }

  /** The line that has no end yet: what a killed writer leaves behind. */
  rest(): string {
    if (this.#length <= this.longest) return decoder.decode(joined(this.#waiting));
    return `longer than ${this.longest} bytes: ${decoder.decode(this.#waiting[0]!.subarray(0, KEPT))}`;
  }

  #wait(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#length += bytes.length;
    // A copy: the caller may use its buffer again.
    if (this.#length <= this.longest || this.#waiting.length === 0) this.#waiting.push(bytes.slice());
    // Of a line that is too long only its beginning is wanted.
    else this.#waiting.splice(1);
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
